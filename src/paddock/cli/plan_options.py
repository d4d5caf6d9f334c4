"""The options of `paddock plan`, and what their values may be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from paddock.cli.options import SEED_END, Flag, Whole
from paddock.errors import InvalidValueError, PaddockError, unknown_name

OBJECTIVES = ("total", "makespan")


@Parameter(name="*")
@dataclass(frozen=True)
class PlanOptions:
    """How to plan, and what to tell about it."""

    method: str | None = None
    "How tasks are given out and put in order, instead of the scenario's method."

    objective: str | None = None
    "What is made small: total (distance of all) or makespan (time until all are back)."

    compare: Flag = False
    "Try all methods on the same mission; the report shows the best plan, or that of --method."

    methods: str | None = None
    "Compare only these, e.g. greedy,auction,routing."

    seed: Whole = None
    "Seed of every random draw, instead of the scenario's."

    uavs: Whole = None
    "Without a scenario: how many aircraft; 4 by default."

    tasks: Whole = None
    "Without a scenario: how many tasks are drawn; 20 by default."

    generate: Flag = False
    "Draw a mission and write it as a scenario: to the file that is named, or to stdout. It is planned too only if \
--compare, --output, --animate, --no-files, --strict or --json ask for it."

    import_tasks: str | None = None
    "Add tasks and zones from a GeoJSON file or a .plan file of QGroundControl."

    output: str | None = None
    "Folder for the files; by default named like the scenario, e.g. survey_plan."

    no_files: Flag = False
    "Only print the table."

    parquet: Flag = False
    "Also write the tables of metrics as Parquet."

    animate: str | None = None
    "Also write an animation: a .mp4 or a .gif file."

    strict: Flag = False
    "Exit with 1 if a task stays undone."

    json: Flag = False
    "Print a JSON object and nothing else."

    @property
    def compares(self) -> bool:
        """Whether several methods are tried."""
        return self.compare or self.methods is not None

    @property
    def plans(self) -> bool:
        """Whether a mission that is drawn to be written is planned as well."""
        named = (self.output, self.animate)
        return self.compares or self.no_files or self.strict or self.json or any(name is not None for name in named)

    @property
    def tried(self) -> list[str]:
        """The methods to compare."""
        from paddock.planning.methods import method_names

        if self.methods is None:
            return method_names()
        return list(dict.fromkeys([*self._listed, *([self.method] if self.method else [])]))

    @property
    def added(self) -> str | None:
        """The method that is compared although --methods does not name it."""
        return self.method if self.methods is not None and self.method not in self._listed else None

    @property
    def _listed(self) -> list[str]:
        return [name.strip() for name in (self.methods or "").split(",") if name.strip()]

    def check(self) -> None:
        """Refuse impossible values before anything is computed."""
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise unknown_name("objective", self.objective, OBJECTIVES, "--objective")
        if self.seed is not None and not 0 <= self.seed < SEED_END:
            raise InvalidValueError(f"--seed must lie in 0..2^64-1, not {self.seed}")
        for flag, count, most in (("--uavs", self.uavs, 10_000), ("--tasks", self.tasks, 100_000)):
            if count is not None and not 0 <= count <= most:
                raise InvalidValueError(f"{flag} must lie in 0..{most:,}, not {count}")
        if self.output is not None and self.no_files:
            raise PaddockError("--output and --no-files say the opposite: give one of them")
        if self.parquet and self.no_files:
            raise PaddockError("--parquet and --no-files say the opposite: give one of them")
        if self.output == "" or (self.output and Path(self.output).is_file()):
            raise PaddockError(f"--output takes the name of a folder, not {self.output!r}")
        self._check_methods()
        if self.parquet:
            from paddock.planning.metrics import check_parquet

            check_parquet()
        if self.animate is not None:
            from paddock.record.mission_report.animation import check_film

            check_film(Path(self.animate))

    def _check_methods(self) -> None:
        from paddock.planning.methods import find_method

        for flag, names in (("--method", [self.method]), ("--methods", self.tried if self.methods is not None else [])):
            for name in filter(None, names):
                try:
                    find_method(name)
                except PaddockError as error:
                    raise PaddockError(f"{flag}: {error}") from None
        if self.methods is not None and not self.tried:
            raise PaddockError("--methods takes names with commas between them, e.g. greedy,auction")
