"""`paddock plan`: plan a mission and write a report, plots, ground-station files and an animation."""

import sys
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from paddock.cli.options import SEED_END, Flag, Whole
from paddock.errors import InvalidValueError, PaddockError, unknown_name

OBJECTIVES = ("total", "makespan")
LONGEST = 1e6  # s


@Parameter(name="*")
@dataclass(frozen=True)
class PlanOptions:
    """How to plan, and what to write."""

    method: str | None = None
    "Planning method; overrides the scenario's."

    objective: str | None = None
    "Objective to minimise: total (distance) or makespan (time until all vehicles have returned)."

    compare: Flag = False
    "Compare all methods on the same mission; the report shows the best plan, or that of --method."

    methods: str | None = None
    "Methods to compare, e.g. greedy,auction,routing."

    time: str | None = None
    "Time to search, e.g. 10s, for the methods local_search and routing. The plan names the steps that local_search \
took: with them it is the same on every machine."

    seed: Whole = None
    "Random seed; overrides the scenario's."

    uavs: Whole = None
    "Without a scenario: number of aircraft; default: 4."

    tasks: Whole = None
    "Without a scenario: number of random tasks; default: 20."

    generate: Flag = False
    "Generate a random mission and write it as a scenario to the given file, or to stdout. It is also planned if \
--compare, --output, --animate, --no-files, --strict or --json is given."

    import_tasks: str | None = None
    "Import tasks and zones from a GeoJSON file or a QGroundControl .plan file."

    output: str | None = None
    "Output folder; default: SCENARIO_plan, e.g. survey_plan."

    no_files: Flag = False
    "Write no files; only print the table."

    parquet: Flag = False
    "Also write the metrics as Parquet."

    animate: str | None = None
    "Also write an animation (.mp4 or .gif)."

    strict: Flag = False
    "Exit with 1 if any task is undone."

    json: Flag = False
    "Print only a JSON object."

    @property
    def seconds(self) -> float | None:
        """The time to search, s."""
        if self.time is None:
            return None
        try:
            seconds = float(self.time.removesuffix("s"))
        except ValueError:
            seconds = 0.0
        if not 0.0 < seconds <= LONGEST:
            raise InvalidValueError(f"--time takes seconds in 0..{LONGEST:,.0f}, e.g. 10s, not {self.time!r}")
        return seconds

    @property
    def compares(self) -> bool:
        """Whether several methods are compared."""
        return self.compare or self.methods is not None

    @property
    def plans(self) -> bool:
        """Whether a generated mission is planned, not only written."""
        named = (self.output, self.animate)
        return self.compares or self.no_files or self.strict or self.json or any(name is not None for name in named)

    @property
    def tried(self) -> list[str]:
        """Methods to compare."""
        from paddock.planning.solver.methods import method_names

        if self.methods is None:
            return method_names()
        return list(dict.fromkeys([*self._listed, *([self.method] if self.method else [])]))

    @property
    def added(self) -> str | None:
        """The method added to the comparison by --method."""
        return self.method if self.methods is not None and self.method not in self._listed else None

    @property
    def _listed(self) -> list[str]:
        return [name.strip() for name in (self.methods or "").split(",") if name.strip()]

    def check(self) -> None:
        """Reject invalid values before anything is computed."""
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise unknown_name("objective", self.objective, OBJECTIVES, "--objective")
        if self.seconds is not None and self.compares:
            raise PaddockError("--time applies to one method: leave out --compare and --methods")
        if self.seed is not None and not 0 <= self.seed < SEED_END:
            raise InvalidValueError(f"--seed must be in 0..2^64-1, not {self.seed}")
        fewest = 1 if self.import_tasks is None else 0  # generated tasks, beside those of a file
        for flag, count, least, most in (("--uavs", self.uavs, 1, 10_000), ("--tasks", self.tasks, fewest, 100_000)):
            if count is not None and not least <= count <= most:
                raise InvalidValueError(f"{flag} must be in {least}..{most:,}, not {count}")
        if self.output is not None and self.no_files:
            raise PaddockError("--output and --no-files are mutually exclusive")
        if self.parquet and self.no_files:
            raise PaddockError("--parquet and --no-files are mutually exclusive")
        if self.output == "" or (self.output and Path(self.output).is_file()):
            raise PaddockError(f"--output takes a folder, not {self.output!r}")
        from paddock.planning.solver.methods import find_method

        for flag, names in (("--method", [self.method]), ("--methods", self.tried if self.methods is not None else [])):
            for name in filter(None, names):
                try:
                    find_method(name)
                except PaddockError as error:
                    raise PaddockError(f"{flag}: {error}") from None
        if self.methods is not None and not self.tried:
            raise PaddockError("--methods takes comma-separated names, e.g. greedy,auction")
        if self.parquet:
            from paddock.planning.metrics import check_parquet

            check_parquet()
        if self.animate is not None:
            from paddock.record.mission_report.animation import check_animation

            check_animation(Path(self.animate))


def plan(scenario: str | None = None, /, *, options: PlanOptions | None = None) -> int:
    """Plan a mission: assign tasks to vehicles, order them and compute routes.

    Writes a report, plots, plan.json, metrics.csv, GeoJSON and QGroundControl files to a folder.

    Parameters
    ----------
    scenario
        A scenario file (YAML) with a mission, or the name of a demo; without one, a random mission is generated.
    """
    chosen = options or PlanOptions()
    chosen.check()
    if added := chosen.added:
        print(f"paddock: {added} is added to the comparison because of --method", file=sys.stderr)
    from paddock.cli.planning import mission_for, plan_mission, write_generated

    if not chosen.generate:
        return plan_mission(mission_for(scenario, chosen), chosen)
    generated = mission_for(None, chosen)
    if scenario is not None or not chosen.plans:
        write_generated(generated, scenario)
    return plan_mission(generated, chosen) if chosen.plans else 0
