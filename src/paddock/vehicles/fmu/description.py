"""`modelDescription.xml` and `buildDescription.xml` of an exported model, for FMI 2.0 and 3.0."""

from collections.abc import Sequence
from math import isfinite
from xml.etree import ElementTree

from paddock.vehicles.fmu.variables import NO_UNITS, FmuVariable, unit_exponents

Element = ElementTree.Element
STOP = 20.0  # s: of the experiment that tools propose


def model_description(
    fmi: int,
    name: str,
    identifier: str,
    token: str,
    tool: str,
    summary: str,
    step: float,
    variables: Sequence[FmuVariable],
    source: str,
) -> bytes:
    """Return the XML document; `source` is the name of the C file."""
    version = {"fmiVersion": "2.0", "guid": token} if fmi == 2 else {"fmiVersion": "3.0", "instantiationToken": token}
    about = {"modelName": name, "description": summary, "generationTool": tool}
    root = Element("fmiModelDescription", version | about | {"variableNamingConvention": "structured"})
    abilities = {"modelIdentifier": identifier, "canHandleVariableCommunicationStepSize": "true"}
    state = "FMUstate" if fmi == 2 else "FMUState"
    abilities |= {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    if fmi == 2:
        abilities["canNotUseMemoryManagementFunctions"] = "true"
    simulation = ElementTree.SubElement(root, "CoSimulation", abilities)
    if fmi == 2:
        ElementTree.SubElement(ElementTree.SubElement(simulation, "SourceFiles"), "File", {"name": source})
    root.append(_units(variables))
    category = {"name": "logStatusError", "description": "calls that failed"}
    ElementTree.SubElement(ElementTree.SubElement(root, "LogCategories"), "Category", category)
    times = {"startTime": "0", "stopTime": f"{STOP:g}", "stepSize": repr(step)}
    ElementTree.SubElement(root, "DefaultExperiment", times)
    listed = ElementTree.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        listed.append(_variable(fmi, reference, variable))
    root.append(_structure(fmi, variables))
    return _document(root)


def build_description(identifier: str, source: str) -> bytes:
    """Return the document with which other tools compile the source of an FMI 3.0 FMU."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = ElementTree.SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    options = {"language": "C99", "compilerOptions": "-ffp-contract=off"}
    files = ElementTree.SubElement(build, "SourceFileSet", options)
    ElementTree.SubElement(files, "SourceFile", {"name": source})
    return _document(root)


def _document(root: Element) -> bytes:
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _units(variables: Sequence[FmuVariable]) -> Element:
    units = Element("UnitDefinitions")
    for name in sorted({variable.unit for variable in variables} - {*NO_UNITS}):
        unit = ElementTree.SubElement(units, "Unit", {"name": name})
        if (found := unit_exponents(name)) is not None:
            factor, exponents = found
            base = {key: str(exponent) for key, exponent in sorted(exponents.items())}
            ElementTree.SubElement(unit, "BaseUnit", base | ({"factor": repr(factor)} if factor != 1.0 else {}))
    return units


def _variable(fmi: int, reference: int, variable: FmuVariable) -> Element:
    about = {"name": variable.name, "valueReference": str(reference), "causality": variable.causality}
    about |= {"variability": variable.variability, "description": variable.meaning}
    if variable.causality == "parameter":
        about["initial"] = "exact"
    elif variable.causality in ("output", "local"):
        about["initial"] = "calculated"
    number = {} if variable.unit in NO_UNITS else {"unit": variable.unit}
    limits = (("min", variable.low), ("max", variable.high))
    number |= {key: repr(float(value)) for key, value in limits if isfinite(value)}
    if variable.start is not None:
        number["start"] = repr(float(variable.start))
    if fmi == 3:
        return Element("Float64", about | number)
    scalar = Element("ScalarVariable", about)
    ElementTree.SubElement(scalar, "Real", number)
    return scalar


def _structure(fmi: int, variables: Sequence[FmuVariable]) -> Element:
    """Return the outputs and which of them follow the inputs at once: those of the state and the pose do not."""
    structure = Element("ModelStructure")
    shown = [k for k, variable in enumerate(variables) if variable.causality == "output"]
    if fmi == 3:
        for k in shown:
            ElementTree.SubElement(structure, "Output", {"valueReference": str(k), "dependencies": ""})
        for k in shown:
            ElementTree.SubElement(structure, "InitialUnknown", {"valueReference": str(k)})
        return structure
    outputs = ElementTree.SubElement(structure, "Outputs")
    for k in shown:
        ElementTree.SubElement(outputs, "Unknown", {"index": str(k + 1), "dependencies": ""})
    initial = ElementTree.SubElement(structure, "InitialUnknowns")
    for k in shown:
        ElementTree.SubElement(initial, "Unknown", {"index": str(k + 1)})
    return structure
