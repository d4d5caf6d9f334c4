"""Signals: decibels, noise, bit and packet errors, capacity, collisions of packets.

`ber` takes Eb/N0, the energy of a bit over the noise in one hertz, as a ratio; `eb_n0` converts from the SINR in the
bandwidth of a receiver. Interference counts as noise.

Collisions: packets that meet transmissions of radios with a `duty`. A radio with a duty d transmits packets of
airtime T at random: it is off for an exponential time, T (1 - d) / d in the mean. A packet of airtime t meets none of
its transmissions with the probability (1 - d) exp(-t d / ((1 - d) T)). With several radios the probabilities
multiply: the load of a link is the sum of -log(1 - d) + t d / ((1 - d) T), for its own packets. Of packets of another
length, the part of it that grows with t is scaled. A receiver's own transmissions count in the same way: it does not
hear while it transmits.

Which radios count depends on the link. One that alone takes the SINR below that of 50 % packet errors destroys the
packets that it meets. The mean power of all weaker ones, and of those that transmit STEADY_DUTY of the time or more,
adds to the noise. To look this up for each link, the powers at a receiver are sorted into levels of 3 dB / 2, as
numbers of floating point are: by exponent and first bit of the mantissa.
"""

from typing import Any

from numpy import float64, int64, uint64

from paddock.compute.math import absolute, exp, log, maximum, minimum, select, sqrt
from paddock.errors import PaddockError

BOLTZMANN = 1.380649e-23  # J/K
ROOM_TEMPERATURE = 290.0  # K, of noise figures
DECIBELS = 4.342944819032518  # dB per unit of the natural logarithm of a ratio of powers
NEPERS = 0.2302585092994046  # its inverse
LOG2_E = 1.4426950408889634
WEAKEST = 1e-30  # mW: powers below count as this
NO_POWER = -300.0  # dBm, of WEAKEST: the level of no power at all
BPSK, QPSK, QAM16, QAM64, FSK, GMSK = range(6)
LORA_7, LORA_8, LORA_9, LORA_10, LORA_11, LORA_12 = range(7, 13)  # the number is the spreading factor
MODULATIONS = {
    "bpsk": BPSK,
    "qpsk": QPSK,
    "16qam": QAM16,
    "64qam": QAM64,
    "fsk": FSK,
    "gmsk": GMSK,
    "lora7": LORA_7,
    "lora8": LORA_8,
    "lora9": LORA_9,
    "lora10": LORA_10,
    "lora11": LORA_11,
    "lora12": LORA_12,
}
GMSK_EFFICIENCY = 0.68  # of a filter with BT = 0.25 (Murota and Hirade, 1981)


def decibels(ratio: float) -> float:
    """Return a ratio of powers in dB, or milliwatts in dBm; at least -300."""
    return DECIBELS * log(maximum(ratio, WEAKEST))


def power_ratio(decibels: float) -> float:
    """Return dB as a ratio of powers, or dBm as milliwatts."""
    return exp(NEPERS * decibels)


def noise_dbm(bandwidth: float, noise_figure: float, temperature: float = ROOM_TEMPERATURE) -> float:
    """Return the thermal noise (dBm) kTB of a bandwidth (Hz) at a temperature (K), plus the noise figure (dB)."""
    return decibels(1e3 * BOLTZMANN * temperature * bandwidth) + noise_figure


def sinr_db(signal_dbm: float, noise_dbm: float, interference_mw: float) -> float:
    """Return the signal (dBm) over noise (dBm) and the sum of all interference (mW), dB."""
    return signal_dbm - decibels(power_ratio(noise_dbm) + interference_mw)


def eb_n0(sinr: float, bandwidth: float, bit_rate: float) -> float:
    """Return Eb/N0 (ratio) of a SINR (ratio) in a bandwidth (Hz) at a bit rate (bit/s)."""
    return sinr * bandwidth / bit_rate


def erfc(x: float) -> float:
    """Return the complementary error function; relative error below 1e-14 down to 1e-12, 1e-13 down to 1e-300."""
    z = minimum(absolute(x), 26.4)
    # erfc(z) exp(z^2) / t is smooth in t = 4 / (4 + z): its polynomial of degree 20 on [1/8, 1] (Chebyshev nodes)
    t = 4.0 / (4.0 + z)
    y = t * 2.2857142857142856 - 1.2857142857142858
    q = -4.744794258822064e-10 + y * -1.1137170069640885e-10
    q = 7.618099444211442e-09 + y * (1.5160172951917328e-09 + y * q)
    q = -9.253927798328305e-08 + y * (-1.1766897669765155e-08 + y * q)
    q = 1.0519860419024131e-06 + y * (2.3981686634273367e-08 + y * q)
    q = -9.007289405240233e-06 + y * (1.6149718482087178e-06 + y * q)
    q = -3.290858388144319e-05 + y * (-4.540632975005558e-05 + y * q)
    q = 0.0031925482926365837 + y * (0.0005198412132404756 + y * q)
    q = 0.03085443259917643 + y * (0.01146106679168126 + y * q)
    q = 0.12338090596463751 + y * (0.06732561736157845 + y * q)
    q = 0.2620658545695951 + y * (0.19346236466229141 + y * q)
    q = 0.3078220955665328 + y * q
    tail = t * q * exp(-z * z)
    return select(x < 0.0, 2.0 - tail, tail)


def ber(modulation: int, ratio: float) -> float:
    """Return the bit error rate of one of MODULATIONS at Eb/N0 (ratio) in white noise, Gray-coded; at most 0.5."""
    g = maximum(ratio, 0.0)
    if modulation == QAM16:
        return _ber_qam16(g)
    if modulation == QAM64:
        return _ber_qam64(g)
    if modulation == FSK:
        return 0.5 * exp(-0.5 * g)
    if modulation == GMSK:
        return 0.5 * erfc(sqrt(GMSK_EFFICIENCY * g))
    if modulation >= LORA_7:
        return _ber_lora(modulation, g)
    return 0.5 * erfc(sqrt(g))  # BPSK, and QPSK: a BPSK in each of its two phases


def _ber_qam16(g: float) -> float:
    """Return the exact rate of square 16-QAM (Cho and Yoon, 2002)."""
    x = sqrt(0.4 * g)
    return 0.125 * (3.0 * erfc(x) + 2.0 * erfc(3.0 * x) - erfc(5.0 * x))


def _ber_qam64(g: float) -> float:
    """Return the exact rate of square 64-QAM (Cho and Yoon, 2002)."""
    x = sqrt(g / 7.0)
    near = 7.0 * erfc(x) + 6.0 * erfc(3.0 * x) - erfc(5.0 * x)
    return (near + erfc(9.0 * x) - erfc(13.0 * x)) / 24.0


def _ber_lora(spreading: int, g: float) -> float:
    """Return the rate of chirps with a spreading factor, detected without phase (Elshabrawy and Robert, 2018)."""
    # sqrt(SNR 2^(SF + 1)) with SNR = Eb/N0 SF / 2^SF; Q(x) = erfc(x / sqrt 2) / 2
    x = sqrt(2.0 * spreading * g) - sqrt(1.386 * spreading + 1.154)
    return 0.25 * erfc(0.7071067811865476 * x)


def log1p(x: float) -> float:
    """Return the logarithm of 1 + x for x > -1, exact for small x too."""
    u = 1.0 + x
    small = u == 1.0
    return select(small, x, log(u) * x / select(small, 1.0, u - 1.0))


def expm1(x: float) -> float:
    """Return exp(x) - 1 for x <= 0, exact for small x too."""
    u = exp(x)
    lost, far = u == 1.0, u < 0.5  # in between, the rounding of u cancels in (u - 1) / log(u)
    return select(lost, x, select(far, u - 1.0, (u - 1.0) * x / select(lost | far, 1.0, log(u))))


def per(ber: float, bits: float) -> float:
    """Return the probability that a packet of some bits has at least one error: 1 - (1 - ber)^bits."""
    return -expm1(bits * log1p(-minimum(ber, 0.5)))


def capacity(bandwidth: float, sinr: float) -> float:
    """Return Shannon's bound of the bit rate (bit/s) in a bandwidth (Hz) at a SINR (ratio)."""
    return bandwidth * LOG2_E * log1p(sinr)


def needed_eb_n0(modulation: int, target: float, bits: float) -> float:
    """Return the least Eb/N0 (dB) whose packets of some bits have a packet error rate up to the target."""
    if not (0.0 < target < 1.0 and bits >= 1.0):
        raise PaddockError(
            f"packet error rate {target:g} of {bits:g} bits: use a rate between 0 and 1, and 1 bit or more"
        )
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if per(ber(modulation, power_ratio(middle)), bits) > target:
            low = middle
        else:
            high = middle
    return high


def needed_sinr_db(modulation: int, bandwidth: float, bit_rate: float, target: float, bits: float) -> float:
    """Return the least SINR (dB) in a bandwidth (Hz) at a bit rate (bit/s) for a packet error rate up to the target."""
    return needed_eb_n0(modulation, target, bits) - decibels(bandwidth / bit_rate)


# collisions -----------------------------------------------------------------------------------------------------------
STEADY_DUTY = 0.5  # share of time from which on a transmitter counts as always on, with its mean power
MOST_LOST = 0.5  # share of packets that collide on a link that comes up
MOST_DUTY = 1.0 - 1e-5  # who transmits for longer receives nothing
LEVELS = 64
BELOW = 1e-3  # of the weakest link: power at the lowest level
POWERS, LOADS = 0, 1  # rows of the levels of a receiver


def duty_load(duty: float) -> float:
    """Return the load of a radio: -log of the share of time in which it is off."""
    return -log1p(-duty)


def duty_pace(duty: float, airtime: float) -> float:
    """Return the pace (1/s) of a radio with packets of an airtime (s): how often it begins while it is off."""
    return duty / ((1.0 - duty) * airtime)


def own_load(duty: float) -> float:
    """Return the load of a receiver's own transmissions, for packets as long as its own."""
    share = minimum(duty, MOST_DUTY)
    return duty_load(share) + duty_pace(share, 1.0)


def split_load(load: float, duty: float, growing: float, airtime: float) -> tuple[float, float]:
    """Return the load of a link at no length of a packet, and what it gains with the length (1/s).

    It is that of packets of an `airtime` (s), at a receiver with a `duty`. `growing` is the part of the load of other
    radios that grows with the length.
    """
    share, others = minimum(duty, MOST_DUTY), maximum(load - own_load(duty), 0.0)
    return duty_load(share) + others * (1.0 - growing), duty_pace(share, airtime) + others * growing / airtime


def level_of(power: float, lowest: Any) -> Any:
    """Return the level of a power (mW) above 0, from 1 on. `lowest` is from `lowest_level`."""
    return uint64(min(max((float64(power).view(int64) >> int64(51)) - lowest, int64(1)), int64(LEVELS - 1)))


def lowest_level(least: float) -> Any:
    """Return the number below that of level 1, at a receiver whose weakest link has a power (mW)."""
    return (float64(BELOW * least).view(int64) >> int64(51)) - int64(1)


def clear_levels(levels: Any) -> None:
    """Set all sums to 0."""
    powers, loads = levels[POWERS], levels[LOADS]
    for k in range(LEVELS):
        powers[k], loads[k] = 0.0, 0.0


def add_to_level(levels: Any, lowest: Any, part: float, inverse: float, load: float) -> None:
    """Add a transmitter with a mean power (mW); `inverse` is 1 / its duty, or 0 where it counts as steady."""
    level = level_of(part * inverse, lowest) if inverse > 0.0 else uint64(0)
    powers, loads = levels[POWERS], levels[LOADS]
    powers[level] += part
    loads[level] += load


def sum_levels(levels: Any) -> None:
    """Replace powers by sums over all lower levels, loads by sums over their own and all higher ones."""
    total, load, powers, loads = 0.0, 0.0, levels[POWERS], levels[LOADS]
    for k in range(uint64(LEVELS)):  # two sums that need not wait for each other
        total, powers[k] = total + powers[k], total
        load += loads[uint64(LEVELS - 1) - k]
        loads[uint64(LEVELS - 1) - k] = load


def met_by(levels: Any, lowest: Any, harms: float, part: float, inverse: float, load: float) -> tuple[float, float]:
    """Return the steady interference (mW) and load of a link, from sums of levels.

    Transmitters from the power `harms` (mW) on destroy the packets that they meet. The link's own transmitter is left
    out: `part` is the mean power that it has in the sums, `inverse` 1 / its duty, or 0 where it counts as steady.
    """
    least = level_of(maximum(harms, 1e-300), lowest)
    steady, loads = levels[POWERS, least], levels[LOADS, least]
    among = inverse > 0.0 and (part * inverse >= 2.0 * harms or level_of(part * inverse, lowest) >= least)
    if among:
        return steady, maximum(loads - load, 0.0)
    return maximum(steady - part, 0.0), loads
