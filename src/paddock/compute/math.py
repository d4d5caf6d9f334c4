"""Branch-free scalar mathematics that gives the same bits in Python, in NumPy, on every CPU and (except for fused
multiply-adds) on a GPU.

Vehicle models and behaviours use only these: libm differs between machines, and a branch would prevent the
compiler from vectorising the loop over vehicles. Every function is an expression; choices are made with `select`.
"""

from math import sqrt

__all__ = [
    "PI",
    "absolute",
    "asin",
    "atan",
    "atan2",
    "atan_positive",
    "clamp",
    "cos",
    "exp",
    "floor",
    "hypot",
    "log",
    "maximum",
    "minimum",
    "nearest",
    "power",
    "select",
    "sign",
    "sin",
    "sin_half_turn",
    "sincos",
    "sqrt",
    "table_index",
    "tan",
    "whole",
    "wrap_angle",
]

PI = 3.141592653589793
PI_REST = 1.2246467991473532e-16  # pi - PI
HALF_PI = 1.5707963267948966
QUARTER_PI = 0.7853981633974483
TWO_OVER_PI = 0.6366197723675814
TWO_PI_INVERSE = 0.15915494309189535
# pi/2 and 2 pi split into parts whose products with small integers are exact (Cody-Waite reduction)
HALF_PI_HIGH = 1.57079632673412561417
HALF_PI_MID = 6.07710050630396597660e-11
HALF_PI_LOW = 2.02226624879595063154e-21
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
SQRT_HALF = 0.7071067811865476
# adding and subtracting 1.5 * 2**52 rounds to the nearest integer; the float32 twin gets 1.5 * 2**23 (see twin.py)
ROUNDING = 6755399441055744.0


def select(condition: bool, a: float, b: float) -> float:
    """Return `a` if the condition is true, otherwise `b`; both sides are always evaluated."""
    return a if condition else b


def minimum(a: float, b: float) -> float:
    """Return the smaller of two numbers."""
    return select(a < b, a, b)


def maximum(a: float, b: float) -> float:
    """Return the larger of two numbers."""
    return select(a > b, a, b)


def clamp(x: float, low: float, high: float) -> float:
    """Return `x` limited to [low, high]."""
    return minimum(maximum(x, low), high)


def absolute(x: float) -> float:
    """Return the magnitude of `x`."""
    return select(x < 0.0, -x, x)


def sign(x: float) -> float:
    """Return the sign: -1, 0 or 1."""
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0))


def nearest(x: float) -> float:
    """Return the nearest integer as a float, ties to even; |x| < 2**51."""
    return (x + ROUNDING) - ROUNDING


def floor(x: float) -> float:
    """Return the largest integer not above `x`, as a float; |x| < 2**51."""
    r = nearest(x)
    return select(r > x, r - 1.0, r)


def whole(x: float) -> int:
    """Return `x` without its fraction, as an integer; `x` must be finite."""
    return int(x)


def table_index(x: float, size: int) -> int:
    """Return the whole part of `x` as an index of a table with `size` entries: limited to them, 0 for NaN."""
    return whole(clamp(x, 0.0, size - 1.0))


def wrap_angle(angle: float) -> float:
    """Return the same angle in [-pi, pi], rad."""
    turns = nearest(angle * TWO_PI_INVERSE)
    return ((angle - turns * (4.0 * HALF_PI_HIGH)) - turns * (4.0 * HALF_PI_MID)) - turns * (4.0 * HALF_PI_LOW)


def sincos(angle: float) -> tuple[float, float]:
    """Return sine and cosine of an angle in rad; error below 2e-16 for |angle| < 1e5."""
    n = nearest(angle * TWO_OVER_PI)
    r = ((angle - n * HALF_PI_HIGH) - n * HALF_PI_MID) - n * HALF_PI_LOW
    z = r * r
    s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s = 2.75573137070700676789e-06 + z * s
    s = -1.98412698298579493134e-04 + z * s
    s = 8.33333333332248946124e-03 + z * s
    s = r + r * z * (-1.66666666666666324348e-01 + z * s)
    c = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    c = -2.75573143513906633035e-07 + z * c
    c = 2.48015872894767294178e-05 + z * c
    c = -1.38888888888741095749e-03 + z * c
    c = 4.16666666666666019037e-02 + z * c
    c = 1.0 - (0.5 * z - z * z * c)
    quadrant = n - 4.0 * nearest(n * 0.25)  # -2, -1, 0, 1 or 2
    odd = (quadrant == 1.0) | (quadrant == -1.0)
    sine = select(odd, c, s)
    cosine = select(odd, s, c)
    half_turn = (quadrant == 2.0) | (quadrant == -2.0)
    sine = select(half_turn | (quadrant == -1.0), -sine, sine)
    cosine = select(half_turn | (quadrant == 1.0), -cosine, cosine)
    return sine, cosine


def sin(angle: float) -> float:
    """Return the sine of an angle in rad."""
    return sincos(angle)[0]


def sin_half_turn(angle: float) -> float:
    """Return the sine of an angle in [-pi/2, 3 pi/2], rad; error below 4e-16, for less than half the cost of `sin`."""
    r = minimum(angle, (PI - angle) + PI_REST)
    z = r * r
    zz = z * z
    # in pairs, so that the multiplications need not wait for each other
    low = (-0.1666666666666581 + z * 0.008333333333262881) + zz * (-0.00019841269820094625 + z * 2.7557316077054346e-06)
    high = (-2.5051851499682156e-08 + z * 1.6047301272583263e-10) + zz * -7.364647299489927e-13
    return r + r * z * (low + zz * zz * high)


def cos(angle: float) -> float:
    """Return the cosine of an angle in rad."""
    return sincos(angle)[1]


def tan(angle: float) -> float:
    """Return the tangent of an angle in rad; the angle must not be an exact multiple of pi/2."""
    s, c = sincos(angle)
    return s / c


def hypot(x: float, y: float) -> float:
    """Return the length of the vector (x, y)."""
    return sqrt(x * x + y * y)


def atan(x: float) -> float:
    """Return the arc tangent in rad; error below 3e-16."""
    a = absolute(x)
    large = a > 2.414213562373095
    medium = (a > 0.66) & (a <= 2.414213562373095)
    # one division serves all three ranges: dividing by 1 is exact
    reduced = select(large, -1.0, select(medium, a - 1.0, a)) / select(large, a, select(medium, a + 1.0, 1.0))
    z = reduced * reduced
    p = -8.750608600031904122785e-1 * z + -1.615753718733365076637e1
    p = p * z + -7.500855792314704667340e1
    p = p * z + -1.228866684490136173410e2
    p = p * z + -6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = q * z + 1.650270098316988542046e2
    q = q * z + 4.328810604912902668951e2
    q = q * z + 4.853903996359136964868e2
    q = q * z + 1.945506571482613964425e2
    y = reduced * z * p / q + reduced
    y = y + select(large, HALF_PI, select(medium, QUARTER_PI, 0.0))
    return select(x < 0.0, -y, y)


def atan_positive(x: float) -> float:
    """Return the arc tangent of a number >= 0, rad; error below 3e-16, with one division where `atan` takes two."""
    large, middle = x > 2.414213562373095, x > 0.41421356237309503
    reduced = select(large, -1.0, select(middle, x - 1.0, x)) / select(large, x, select(middle, x + 1.0, 1.0))
    z = reduced * reduced
    zz = z * z
    low = (-0.3333333333332516 + z * 0.1999999999817705) + zz * (-0.1428571413320918 + z * 0.11111104489464585)
    high = (-0.09090738500381212 + z * 0.07689519792584963) + zz * (-0.06636842418350555 + z * 0.05672222889193023)
    top = -0.043053788353010866 + z * 0.020653366473650337
    four = zz * zz
    y = reduced + reduced * z * (low + four * (high + four * top))
    return y + select(large, HALF_PI, select(middle, QUARTER_PI, 0.0))


def atan2(y: float, x: float) -> float:
    """Return the angle of the vector (x, y) in rad, in [-pi, pi]; 0 for the zero vector."""
    flat = absolute(x) >= absolute(y)  # divide the smaller by the larger: never by zero, never overflowing
    larger = select(flat, x, y)
    ratio = select(flat, y, x) / select(larger == 0.0, 1.0, larger)
    angle = atan(ratio)
    steep = select(y > 0.0, HALF_PI - angle, -HALF_PI - angle)
    level = select(x < 0.0, select(y < 0.0, angle - PI, angle + PI), angle)
    return select(flat, level, steep)


def asin(x: float) -> float:
    """Return the arc sine in rad of a number, limited to [-1, 1]."""
    s = clamp(x, -1.0, 1.0)
    return atan2(s, sqrt((1.0 - s) * (1.0 + s)))


def exp(x: float) -> float:
    """Return e to the power of `x`, limited to |x| <= 700; relative error below 1e-15."""
    limited = clamp(x, -700.0, 700.0)
    k = nearest(limited * LOG2_E)
    r = (limited - k * LN2_HIGH) - k * LN2_LOW
    z = r * r
    t = 6.61375632143793436117e-05 + z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08)
    t = r - z * (1.66666666666666019037e-01 + z * (-2.77777777770155933842e-03 + z * t))
    mantissa = 1.0 - ((r * t) / (t - 2.0) - r)
    return mantissa * _power_of_two(k)


def _power_of_two(k: float) -> float:
    """Return 2 to the power of an integer-valued `k`, |k| < 1024, by its binary digits."""
    rest = absolute(k)
    scale = select(rest >= 512.0, 1.3407807929942597e154, 1.0)
    rest = select(rest >= 512.0, rest - 512.0, rest)
    scale = select(rest >= 256.0, scale * 1.157920892373162e77, scale)
    rest = select(rest >= 256.0, rest - 256.0, rest)
    scale = select(rest >= 128.0, scale * 3.402823669209385e38, scale)
    rest = select(rest >= 128.0, rest - 128.0, rest)
    scale = select(rest >= 64.0, scale * 18446744073709551616.0, scale)
    rest = select(rest >= 64.0, rest - 64.0, rest)
    scale = select(rest >= 32.0, scale * 4294967296.0, scale)
    rest = select(rest >= 32.0, rest - 32.0, rest)
    scale = select(rest >= 16.0, scale * 65536.0, scale)
    rest = select(rest >= 16.0, rest - 16.0, rest)
    scale = select(rest >= 8.0, scale * 256.0, scale)
    rest = select(rest >= 8.0, rest - 8.0, rest)
    scale = select(rest >= 4.0, scale * 16.0, scale)
    rest = select(rest >= 4.0, rest - 4.0, rest)
    scale = select(rest >= 2.0, scale * 4.0, scale)
    rest = select(rest >= 2.0, rest - 2.0, rest)
    scale = select(rest >= 1.0, scale * 2.0, scale)
    return select(k < 0.0, 1.0 / scale, scale)


def log(x: float) -> float:
    """Return the natural logarithm of a number in [2**-1022, 2**1022]; relative error below 1e-15."""
    inverted = x < SQRT_HALF
    m = select(inverted, 1.0 / x, x)  # >= sqrt(1/2), so that only halvings are needed
    e = select(m >= 1.3407807929942597e154, 512.0, 0.0)
    m = select(m >= 1.3407807929942597e154, m * 7.458340731200207e-155, m)
    e = select(m >= 1.157920892373162e77, e + 256.0, e)
    m = select(m >= 1.157920892373162e77, m * 8.636168555094445e-78, m)
    e = select(m >= 3.402823669209385e38, e + 128.0, e)
    m = select(m >= 3.402823669209385e38, m * 2.938735877055719e-39, m)
    e = select(m >= 18446744073709551616.0, e + 64.0, e)
    m = select(m >= 18446744073709551616.0, m * 5.421010862427522e-20, m)
    e = select(m >= 4294967296.0, e + 32.0, e)
    m = select(m >= 4294967296.0, m * 2.3283064365386963e-10, m)
    e = select(m >= 65536.0, e + 16.0, e)
    m = select(m >= 65536.0, m * 1.52587890625e-05, m)
    e = select(m >= 256.0, e + 8.0, e)
    m = select(m >= 256.0, m * 0.00390625, m)
    e = select(m >= 16.0, e + 4.0, e)
    m = select(m >= 16.0, m * 0.0625, m)
    e = select(m >= 4.0, e + 2.0, e)
    m = select(m >= 4.0, m * 0.25, m)
    e = select(m >= 1.4142135623730951, e + 1.0, e)
    m = select(m >= 1.4142135623730951, m * 0.5, m)
    e = select(m >= 1.4142135623730951, e + 1.0, e)  # m may still lie in [sqrt 2, 2)
    m = select(m >= 1.4142135623730951, m * 0.5, m)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = 1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    r = 3.999999999940941908e-01 + z * (2.857142874366239149e-01 + z * (2.222219843214978396e-01 + z * r))
    r = z * (6.666666666666735130e-01 + z * r)
    half = 0.5 * f * f
    value = e * LN2_HIGH - ((half - (s * (half + r) + e * LN2_LOW)) - f)
    return select(inverted, -value, value)


def power(x: float, y: float) -> float:
    """Return `x` to the power `y` for positive `x`."""
    return exp(y * log(x))
