"""DataFlash logs (`.bin`), the on-board logs of ArduPilot: self-describing binary records.

A record is the bytes A3 95, the type, and the fields of its format. FMT records describe the types, FMTU their units
and multipliers, which UNIT and MULT define. pymavlink's DFReader, mavlogdump.py, MAVExplorer, Mission Planner and UAV
Log Viewer read them.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from struct import Struct
from typing import Any, NamedTuple

HEAD = b"\xa3\x95"
CODES = {  # format character -> struct code, factor
    **{"B": ("B", 1), "b": ("b", 1), "M": ("B", 1), "H": ("H", 1), "h": ("h", 1), "I": ("I", 1), "i": ("i", 1)},
    **{"Q": ("Q", 1), "q": ("q", 1), "f": ("f", 1), "d": ("d", 1), "c": ("h", 100), "C": ("H", 100), "e": ("i", 100)},
    **{"E": ("I", 100), "L": ("i", 1), "n": ("4s", 1), "N": ("16s", 1), "Z": ("64s", 1)},
}
FORMAT = Struct("<3sBB4s16s64s")
FMT, FMTU, UNIT, MULT = 128, 129, 130, 131

UNITS = {  # id -> unit
    "-": "", "?": "UNKNOWN", "#": "instance", "d": "deg", "D": "deglatitude", "U": "deglongitude", "h": "degheading",
    "E": "rad/s", "m": "m", "n": "m/s", "o": "m/s/s", "s": "s", "v": "V", "A": "A", "a": "Ah", "J": "J", "%": "%",
    "P": "Pa", "O": "degC", "G": "Gauss", "S": "satellites", "Y": "us", "z": "Hz", "i": "mAh",
}  # fmt: skip
MULTIPLIERS = {"-": 0.0, "?": 1.0, "0": 1.0, "A": 1e-1, "B": 1e-2, "C": 1e-3, "E": 1e-5, "F": 1e-6, "G": 1e-7}


class LogFormat(NamedTuple):
    """One type of record; the first field of each is TimeUS."""

    name: str
    type: int
    format: str
    columns: str
    units: str
    multipliers: str

    @property
    def codes(self) -> str:
        """Return the struct codes of the fields."""
        return "".join(CODES[character][0] for character in self.format)

    @property
    def head(self) -> bytes:
        """The bytes before the fields."""
        return HEAD + bytes((self.type,))

    @property
    def length(self) -> int:
        """The bytes of a record."""
        return 3 + Struct("<" + self.codes).size


def _formats(*rows: tuple[str, str, str, str, str]) -> Mapping[str, LogFormat]:
    return {row[0]: LogFormat(row[0], 132 + k, *row[1:]) for k, row in enumerate(rows)}


CHANNELS = ",".join(f"C{k}" for k in range(1, 15))
FORMATS = _formats(
    ("PARM", "QNff", "TimeUS,Name,Value,Default", "s---", "F---"),
    ("MSG", "QZ", "TimeUS,Message", "s-", "F-"),
    ("MODE", "QMBB", "TimeUS,Mode,ModeNum,Rsn", "s---", "F---"),
    ("EV", "QB", "TimeUS,Id", "s-", "F-"),
    ("ERR", "QBB", "TimeUS,Subsys,ECode", "s--", "F--"),
    (
        "CMD",
        "QHHHffffLLfB",
        "TimeUS,CTot,CNum,CId,Prm1,Prm2,Prm3,Prm4,Lat,Lng,Alt,Frame",
        "s-------DUm-",
        "F-------GG0-",
    ),
    ("CAM", "QHIHLLeeccC", "TimeUS,Img,GPSTime,GPSWeek,Lat,Lng,Alt,RelAlt,R,P,Y", "s---DUmmddd", "F---GGBBBBB"),
    ("ORGN", "QBLLe", "TimeUS,Type,Lat,Lng,Alt", "s-DUm", "F-GGB"),
    (
        "ATT",
        "QccccCCCCB",
        "TimeUS,DesRoll,Roll,DesPitch,Pitch,DesYaw,Yaw,ErrRP,ErrYaw,AEKF",
        "sddddhhdh-",
        "FBBBBBBBB-",
    ),
    ("POS", "QLLfff", "TimeUS,Lat,Lng,Alt,RelHomeAlt,RelOriginAlt", "sDUmmm", "FGG000"),
    (
        *("GPS", "QBBIHBcLLeffffB", "TimeUS,I,Status,GMS,GWk,NSats,HDop,Lat,Lng,Alt,Spd,GCrs,VZ,Yaw,U"),
        *("s#-s-S-DUmnhnh-", "F--C-0BGGB000--"),
    ),
    ("IMU", "QBffffff", "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ", "s#EEEooo", "F-000000"),
    ("MAG", "QBhhh", "TimeUS,I,MagX,MagY,MagZ", "s#GGG", "F-CCC"),
    ("BARO", "QBffc", "TimeUS,I,Alt,Press,Temp", "s#mPO", "F-00B"),
    ("BAT", "QBfffB", "TimeUS,Inst,Volt,Curr,CurrTot,RemPct", "s#vAi%", "F-0000"),
    (
        *("ARSP", "QBffcffBBffB", "TimeUS,I,Airspeed,DiffPress,Temp,RawPress,Offset,U,H,Hp,TR,Pri"),
        *("s#nPOPP-----", "F-00B00-----"),
    ),
    (
        *("CTUN", "QccccffffBffi", "TimeUS,NavRoll,Roll,NavPitch,Pitch,ThO,RdO,ThD,As,AsT,SAs,E2T,GU"),
        *("sdddd---n-n-n", "FBBBB---000-B"),
    ),
    ("RCOU", "QHHHHHHHHHHHHHH", f"TimeUS,{CHANNELS}", "sYYYYYYYYYYYYYY", "F--------------"),
    ("RCIN", "QHHHHHHHHHHHHHH", f"TimeUS,{CHANNELS}", "sYYYYYYYYYYYYYY", "F--------------"),
)
"""The records that describe a flight; values of L are in 1e-7 degrees, of c, C and e in hundredths."""

SELF = (
    LogFormat("FMT", FMT, "BBnNZ", "Type,Length,Name,Format,Columns", "-b---", "-----"),
    LogFormat("FMTU", FMTU, "QBNN", "TimeUS,FmtType,UnitIds,MultIds", "s---", "F---"),
    LogFormat("UNIT", UNIT, "QbZ", "TimeUS,Id,Label", "s--", "F--"),
    LogFormat("MULT", MULT, "Qbd", "TimeUS,Id,Mult", "s--", "F--"),
)


def header(time_us: int) -> bytes:
    """Return the start of a log: all formats, units and multipliers."""
    everything = (*SELF, *FORMATS.values())
    parts = [
        FORMAT.pack(HEAD + bytes((FMT,)), f.type, f.length, f.name.encode(), f.format.encode(), f.columns.encode())
        for f in everything
    ]
    unit, multiplier, pair = Struct("<3sQb64s"), Struct("<3sQbd"), Struct("<3sQB16s16s")
    parts += [unit.pack(HEAD + bytes((UNIT,)), time_us, ord(key), name.encode()) for key, name in UNITS.items()]
    heads = HEAD + bytes((MULT,))
    parts += [multiplier.pack(heads, time_us, ord(key), value) for key, value in MULTIPLIERS.items()]
    heads = HEAD + bytes((FMTU,))
    parts += [pair.pack(heads, time_us, f.type, f.units.encode(), f.multipliers.encode()) for f in FORMATS.values()]
    return b"".join(parts)


def start_time(data: bytes) -> int:
    """Return the time in us at which a log starts, from its first bytes; 0 if they hold no time."""
    at = 0
    while data[at : at + 3] == HEAD + bytes((FMT,)):
        at += FORMAT.size
    if data[at : at + 2] != HEAD or len(data) < at + 11:
        return 0
    return int.from_bytes(data[at + 3 : at + 11], "little")


class RecordGroup:
    """Records that are written together: one call packs all of them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.formats = [FORMATS[name] for name in names]

    @cached_property
    def _struct(self) -> Struct:
        return Struct("<" + "".join("3s" + form.codes for form in self.formats))

    @cached_property
    def _heads(self) -> list[bytes]:
        return [form.head for form in self.formats]

    def pack(self, records: Sequence[Sequence[Any]]) -> bytes:
        """Return the bytes of the fields of each record, as integers where the format scales them."""
        values: list[Any] = []
        for head, fields in zip(self._heads, records, strict=True):
            values.append(head)
            values += fields
        return self._struct.pack(*values)


SINGLE = {name: RecordGroup((name,)) for name in FORMATS}


def record(name: str, *fields: Any) -> bytes:
    """Return the bytes of one record; texts as bytes."""
    return SINGLE[name].pack((fields,))
