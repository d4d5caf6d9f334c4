"""Scalar functions as C: the same operations in the same order, so that compiled C returns the same bits.

A `CSource` collects what its functions reach. A function becomes one C function per combination of argument types, a
(named) tuple a struct. `compile_library` calls the system's compiler, without fused multiply-adds.
"""

import ast
import inspect
import math
import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from paddock.errors import CodeError, PaddockError, code_place

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-fvisibility=hidden")
HEAD = "#include <math.h>\n#include <stdbool.h>\n\n#pragma STDC FP_CONTRACT OFF\n"
EXACT = {
    math.sqrt: "sqrt", math.fabs: "fabs", math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc",
    math.copysign: "copysign", abs: "fabs", float: "(double)",
}  # fmt: skip
"""Functions with one right result, which C has too."""
TESTS = {math.isnan: "isnan", math.isinf: "isinf", math.isfinite: "isfinite"}
OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LOGIC: dict[type, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.And: "&&", ast.Or: "||"}
COMPARISONS: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
LARGEST_POWER = 64


class Struct(NamedTuple):
    """The type of a tuple: its fields' names and types; `origin` is a named tuple class, or None."""

    fields: tuple[str, ...]
    types: tuple[Any, ...]
    origin: type | None = None


CType = str | Struct  # "double", "bool" or a struct
NUMBER, TRUTH = "double", "bool"


class Typed(NamedTuple):
    """A C expression and its type."""

    text: str
    type: CType


def record(tuple_class: Any) -> Struct:
    """Return the type of a named tuple of numbers."""
    return Struct(tuple_class._fields, (NUMBER,) * len(tuple_class._fields), tuple_class)


class CSource:
    """C source under construction."""

    def __init__(self) -> None:
        self._structs: dict[Struct, str] = {}
        self._functions: dict[tuple[int, tuple[CType, ...]], tuple[str, CType]] = {}
        self._reached: list[Callable[..., Any]] = []  # alive, so that their identities stay unique
        self._names: set[str] = set()
        self._types: list[str] = []
        self._definitions: list[str] = []

    def text(self) -> str:
        """Return everything that has been added."""
        return "\n".join((HEAD, *self._types, *self._definitions))

    def add(self, function: Callable[..., Any], *types: CType) -> tuple[str, CType]:
        """Translate a function for arguments of these types; return its C name and the type of its result."""
        if not isinstance(function, FunctionType):
            raise PaddockError(f"{function!r} is not a plain Python function, so it cannot be written as C")
        key = id(function), types
        if key not in self._functions:
            self._reached.append(function)
            name = self._unused(f"m_{function.__name__.strip('_')}")
            body = _Body(self, function, types)
            declared = ", ".join(f"{self.name(t)} {a}" for a, t in zip(body.arguments, types, strict=True))
            head = f"static inline {self.name(body.result)} {name}({declared or 'void'})"
            self._definitions.append("\n".join((head, "{", *(f"    {line}" for line in body.lines), "}", "")))
            self._functions[key] = name, body.result
        return self._functions[key]

    def name(self, type_: CType) -> str:
        """Return the C name of a type, declared on first use."""
        if isinstance(type_, str):
            return type_
        if type_ not in self._structs:
            fields = "".join(
                f"    {self.name(t)} {c_field(f)};\n" for f, t in zip(type_.fields, type_.types, strict=True)
            )
            name = self._unused("tuple" if type_.origin is None else f"{type_.origin.__name__}")
            self._types.append(f"typedef struct {{\n{fields}}} {name};\n")
            self._structs[type_] = name
        return self._structs[type_]

    def _unused(self, name: str) -> str:
        unused, k = f"{name}_t" if not name.startswith("m_") else name, 2
        while unused in self._names:
            unused, k = f"{name}_{k}", k + 1
        self._names.add(unused)
        return unused


def c_field(name: str) -> str:
    """Return the name of a struct's field, which may be a word of C in Python."""
    return f"f_{name.strip('_')}"


@cache
def _tree(function: FunctionType) -> tuple[ast.FunctionDef, int]:
    """Return the syntax of a function and the number of lines before it in its file."""
    try:
        lines, first = inspect.getsourcelines(function.__code__)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        raise PaddockError(f"{function.__qualname__}: its source is not available, so it cannot become C") from None
    if not tree.body or not isinstance(tree.body[0], ast.FunctionDef):
        raise PaddockError(f"{function.__qualname__} is not defined by `def`, so it cannot be written as C")
    return tree.body[0], first - 1


class _Body:
    """The body of one C function. Without branches and loops, every assignment is a new constant."""

    def __init__(self, source: CSource, function: FunctionType, types: Sequence[CType]) -> None:
        self.source = source
        self.function = function
        self.tree, self.offset = _tree(function)
        names = list(inspect.signature(function).parameters)
        self.locals: dict[str, Typed] = {}
        self.arguments = [f"a_{name.strip('_')}" for name in names]
        for name, argument, type_ in zip(names, self.arguments, types, strict=True):
            self.locals[name] = Typed(argument, type_)
        self.lines: list[str] = []
        self.result: CType = NUMBER
        self._count = 0
        statements = self.tree.body
        for statement in statements:
            self._statement(statement)
        if not isinstance(statements[-1], ast.Return):
            raise self._refused(statements[-1], "the last line must return a value")

    def _refused(self, node: ast.AST, why: str) -> CodeError:
        location = code_place(self.function.__code__.co_filename, self.offset + getattr(node, "lineno", 1))
        return CodeError(f"{location}: cannot be written as C: {why}")

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():  # a docstring
                return
            case ast.Assign(targets=targets, value=value):
                result = self._value(value)
                for target in targets:
                    self._assign(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                before = ast.copy_location(ast.Name(name, ast.Load()), node)
                after = ast.copy_location(ast.BinOp(before, op, value), node)
                self._assign(node.target, self._value(after))
            case ast.Return(value=ast.expr() as value) if node is self.tree.body[-1]:
                result = self._value(value)
                self.result = result.type
                self.lines.append(f"return {result.text};")
            case _:
                kind = type(node).__name__.lower()
                raise self._refused(node, f"{kind} statement; assignments and one final return are valid, use select()")

    def _assign(self, target: ast.expr, value: Typed) -> None:
        if isinstance(target, ast.Name):
            self.locals[target.id] = self._kept(value, target.id.strip("_") or "unused")
        elif isinstance(target, ast.Tuple) and isinstance(value.type, Struct):
            whole = self._kept(value, "parts")
            if len(target.elts) != len(value.type.fields):
                raise self._refused(target, f"{len(target.elts)} names for {len(value.type.fields)} values")
            for k, part in enumerate(target.elts):
                self._assign(part, self._part(whole, k))
        else:
            raise self._refused(target, f"assignment to {ast.unparse(target)}")

    def _kept(self, value: Typed, name: str) -> Typed:
        """Return a constant that holds the value."""
        self._count += 1
        self.lines.append(f"const {self.source.name(value.type)} {name}_{self._count} = {value.text};")
        return Typed(f"{name}_{self._count}", value.type)

    def _part(self, value: Typed, k: int) -> Typed:
        assert isinstance(value.type, Struct)
        return Typed(f"{value.text}.{c_field(value.type.fields[k])}", value.type.types[k])

    def _value(self, node: ast.expr) -> Typed:
        match node:
            case ast.Constant(value=value):
                return self._constant(node, value)
            case ast.Name(id=name):
                return self.locals[name] if name in self.locals else self._constant(node, self._global(node))
            case ast.Attribute() | ast.Subscript():
                return self._access(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                return Typed(f"({'-' if isinstance(op, ast.USub) else '+'}{self._number(operand)})", NUMBER)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Typed(f"(!{self._value(operand).text})", TRUTH)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp(op=op, values=values):
                parts = [self._truth(value) for value in values]
                return Typed(f"({f' {LOGIC[type(op)]} '.join(parts)})", TRUTH)
            case ast.Compare(left=left, ops=ops, comparators=others):
                terms = [self._number(value) for value in (left, *others)]
                if unknown := [op for op in ops if type(op) not in COMPARISONS]:
                    raise self._refused(node, f"comparison {type(unknown[0]).__name__}")
                pairs = [f"({a} {COMPARISONS[type(op)]} {b})" for a, op, b in zip(terms, ops, terms[1:], strict=False)]
                return Typed(f"({' && '.join(pairs)})" if len(pairs) > 1 else pairs[0], TRUTH)
            case ast.IfExp(test=test, body=body, orelse=other):
                a, b = self._value(body), self._value(other)
                kind = a.type if a.type == b.type else NUMBER
                if isinstance(kind, str) and Struct in (type(a.type), type(b.type)):
                    raise self._refused(node, "a choice between values of different types")
                return Typed(f"({self._truth(test)} ? {a.text} : {b.text})", kind)
            case ast.Tuple(elts=parts):
                return self._tuple(self._listed(parts))
            case ast.Call():
                return self._call(node)
        raise self._refused(node, f"{ast.unparse(node):.60}")

    def _number(self, node: ast.expr) -> str:
        value = self._value(node)
        if isinstance(value.type, Struct):
            raise self._refused(node, f"{ast.unparse(node):.60} is not a number")
        return value.text if value.type == NUMBER else f"(double){value.text}"

    def _truth(self, node: ast.expr) -> str:
        value = self._value(node)
        if value.type != TRUTH:
            raise self._refused(node, f"{ast.unparse(node):.60} is not a condition")
        return value.text

    def _constant(self, node: ast.expr, value: Any) -> Typed:
        if isinstance(value, bool):
            return Typed("true" if value else "false", TRUTH)
        if isinstance(value, float | int):
            number = float(value)
            if math.isfinite(number):
                return Typed(repr(number) if number >= 0.0 else f"({number!r})", NUMBER)
            return Typed("NAN" if math.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)", NUMBER)
        if isinstance(value, tuple):
            parts = [self._constant(node, part) for part in value]
            return self._tuple(parts, type(value) if hasattr(value, "_fields") else None)
        raise self._refused(node, f"{ast.unparse(node):.60} is not a number")

    def _tuple(self, parts: Sequence[Typed], origin: Any = None) -> Typed:
        names = origin._fields if origin is not None else tuple(f"item{k}" for k in range(len(parts)))
        type_ = Struct(tuple(names), tuple(part.type for part in parts), origin)
        return Typed(f"({self.source.name(type_)}){{{', '.join(part.text for part in parts)}}}", type_)

    def _global(self, node: ast.Name) -> Any:
        builtin = {"abs": abs, "float": float}
        if node.id in self.function.__globals__:
            return self.function.__globals__[node.id]
        if node.id in builtin:
            return builtin[node.id]
        raise self._refused(node, f"unknown name {node.id!r}")

    def _access(self, node: ast.Attribute | ast.Subscript) -> Typed:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in self.locals:
            owner = self._global(node.value)
            return self._constant(node, getattr(owner, node.attr, None))
        whole = self._value(node.value)
        if isinstance(whole.type, Struct):
            if isinstance(node, ast.Attribute) and node.attr in whole.type.fields:
                return self._part(whole, whole.type.fields.index(node.attr))
            index = _index(node.slice) if isinstance(node, ast.Subscript) else None
            if index is not None and -len(whole.type.fields) <= index < len(whole.type.fields):
                return self._part(whole, index % len(whole.type.fields))
        raise self._refused(node, f"{ast.unparse(node):.60}")

    def _binary(self, node: ast.BinOp) -> Typed:
        if type(node.op) in LOGIC:
            return Typed(f"({self._truth(node.left)} {LOGIC[type(node.op)]} {self._truth(node.right)})", TRUTH)
        exponent = _index(node.right) if isinstance(node.op, ast.Pow) else None
        if exponent is not None and 0 < exponent <= LARGEST_POWER:
            base = self._kept(Typed(self._number(node.left), NUMBER), "base").text
            return Typed(self._power(base, exponent), NUMBER)
        if type(node.op) not in OPERATORS:
            raise self._refused(node, f"{ast.unparse(node):.60}; +, -, *, / and whole powers are valid")
        return Typed(f"({self._number(node.left)} {OPERATORS[type(node.op)]} {self._number(node.right)})", NUMBER)

    def _power(self, base: str, exponent: int) -> str:
        """Return a product by squaring, in the order of the compiled kernels."""
        result = ""
        while exponent:
            if exponent & 1:
                result = f"({result} * {base})" if result else base
            exponent >>= 1
            if exponent:
                base = self._kept(Typed(f"{base} * {base}", NUMBER), "square").text
        return result

    def _listed(self, nodes: Sequence[ast.expr]) -> list[Typed]:
        """Return the values of arguments or of a tuple's items; `*parts` gives one value per part."""
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                whole = self._kept(self._value(node.value), "parts")
                if not isinstance(whole.type, Struct):
                    raise self._refused(node, f"{ast.unparse(node):.60}")
                values += [self._part(whole, k) for k in range(len(whole.type.fields))]
            else:
                values.append(self._value(node))
        return values

    def _callee(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id not in self.locals:
            return self._global(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in self.locals:
            owner = self._global(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr, None)
        return None

    def _call(self, node: ast.Call) -> Typed:
        callee: Any = self._callee(node.func)
        positional = self._listed(node.args)
        keywords = {word.arg: self._value(word.value) for word in node.keywords if word.arg is not None}
        if len(keywords) != len(node.keywords):
            raise self._refused(node, "** in a call")
        if callee is None and isinstance(node.func, ast.Attribute) and node.func.attr == "_replace":
            return self._replaced(node, self._value(node.func.value), keywords)
        if isinstance(callee, type) and (names := getattr(callee, "_fields", None)) is not None:
            defaults = getattr(callee, "_field_defaults", {})
            taken = self._bound(node, names, defaults, positional, keywords)
            return self._tuple([self._plain_number(value) for value in taken], callee)
        if callee in EXACT or callee in TESTS:
            known = EXACT.get(callee) or TESTS[callee]
            return Typed(
                f"{known}({', '.join(value.text for value in positional)})", NUMBER if callee in EXACT else TRUTH
            )
        if isinstance(callee, FunctionType):
            parameters = inspect.signature(callee).parameters
            defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
            taken = self._bound(node, tuple(parameters), defaults, positional, keywords)
            name, result = self.source.add(callee, *(value.type for value in taken))
            return Typed(f"{name}({', '.join(value.text for value in taken)})", result)
        raise self._refused(node, f"call of {ast.unparse(node.func):.60}")

    def _plain_number(self, value: Typed) -> Typed:
        """Return a truth as a number: the fields of named tuples are numbers or tuples."""
        return Typed(f"(double){value.text}", NUMBER) if value.type == TRUTH else value

    def _bound(
        self,
        node: ast.Call,
        names: tuple[str, ...],
        defaults: Mapping[str, Any],
        positional: Sequence[Typed],
        keywords: Mapping[str, Typed],
    ) -> list[Typed]:
        """Return the values of all arguments in the order of their names."""
        by_name = {**dict(zip(names, positional, strict=False)), **keywords}
        missing = [name for name in names if name not in by_name and name not in defaults]
        if (
            len(positional) > len(names)
            or missing
            or len(by_name) != len(positional) + len(keywords)
            or set(by_name) - {*names}
        ):
            raise self._refused(node, f"the arguments of {ast.unparse(node.func)}()")
        return [by_name[name] if name in by_name else self._constant(node, defaults[name]) for name in names]

    def _replaced(self, node: ast.Call, whole: Typed, changes: Mapping[str, Typed]) -> Typed:
        if not isinstance(whole.type, Struct) or set(changes) - {*whole.type.fields}:
            raise self._refused(node, f"{ast.unparse(node):.60}")
        kept = self._kept(whole, "whole")
        parts = [changes.get(name, self._part(kept, k)) for k, name in enumerate(whole.type.fields)]
        return self._tuple(parts, whole.type.origin)


def _index(node: ast.expr) -> int | None:
    """Return a whole number that is written in the source."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and (number := _index(node.operand)) is not None:
        return -number
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def compiler() -> str:
    """Return the C compiler of this machine: $CC, or the first one that is found."""
    wanted = os.environ.get("CC", "").split()[:1]
    for name in (*wanted, *COMPILERS):
        if path := shutil.which(name):
            return path
    looked = ", ".join((*wanted, *COMPILERS))
    raise PaddockError(f"there is no C compiler ({looked}): install one, or set CC to its path")


def compile_library(source: Path, library: Path) -> None:
    """Compile C source to a shared library."""
    command = [compiler(), *FLAGS, str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["?"]
        raise PaddockError(f"{command[0]} could not compile the model: {lines[0].strip():.300}")
