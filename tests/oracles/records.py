"""Writers of ground-motion files, from the descriptions of the formats and headers of real files.

COSMOS: Strong Motion Data Format 1.20 (2001), header as of station AK.BMR (2018). CSMIP: Volume 2, header as of station
89146 (2012). ESM: DYNA 1.2, header as of HI.ARS1 (2019). K-NET: NIED's page on its ASCII format and station AOM002.
"""

import numpy as np

_COSMOS = """\
{title:<25} (Format v01.20 with 13 text lines)
Record of Point MacKenzie Earthquake of Fri Nov 30, 2018 17:29 UTC
Hypocenter: 61.34640 -149.95520 H= 46km Mw=7.0
Origin: 2018/11/30 17:29:29    UTC
Statn No: 37-000011 Code:AK-BMR     UAF  Bremner River, AK, USA
Coords: 60.9677 -144.6051  Site geology:
Recorder: (see cmnt)      ( ? Chns of   3 at Sta) Sensor: (see comment)
Rcrd start time: 2018/11/30 17:29:39.137 UTC (Q=5) RcrdId: (see comment)
Sta Chan {channel:>3}:{direction:>3} deg (Rcrdr Chan{channel:>3}) Location:
Raw record length = 210.000 sec, Uncor max =    101730, at  82.680 sec.
Processed:2019-03-03 05:46:55 GMT, UNKN, Max =   -6.852 cm/sec2 at   76.215 sec
Record filtered below  0.03 Hz (periods over 33.33 secs), and above 20.0 Hz
Values used when parameter or data value is unknown/unspecified:   -999, -999.00
"""


def cosmos(sections, dt, channel="1", direction="270", title="Corrected acceleration", step62=True):
    """One channel; `sections` has quantity, unit with its code and values."""
    text = _COSMOS.format(title=title, channel=channel, direction=direction)
    text += " 100 Integer-header values follow on  10 lines, Format= (10I8)\n" + ("    -999" * 10 + "\n") * 10
    reals = np.full(100, -999.0)
    reals[33] = 0.02  # the raw record was sampled more coarsely
    reals[61] = 1e3 * dt if step62 else -999.0
    rows = reals.reshape(20, 5)
    text += " 100 Real-header values follow on  20 lines, Format= (5F15.6)\n"
    text += "".join("".join(f"{value:15.6f}" for value in row) + "\n" for row in rows)
    text += '   2 Comment line(s) follow, each starting with a "|":\n| Recorder: QUANTERRA Q330\n'
    text += "|<SCNL>BMR.BNZ.AK.--    <AUTH> 2019/02/01 21:38:15.000\n"
    for quantity, unit, values in sections:
        seconds = round(len(values) * dt)
        text += f"{len(values):8d} {quantity} pts, approx {seconds:4d} secs, units={unit},Format=(1E15.6)\n"
        text += "".join(f"{value:15.6e}\n" for value in values)
    return text + f"End-of-data for Chan {channel} acceleration\n"


_CSMIP = """\
Corrected accelerogram   89146-L2500-12044.02       Chan {channel:>2}: {direction}     from
Uncorrected Accelerogram Data             Processed: 02/13/12, CGS  146be002
Record of Mon Feb 13, 2012 13:06:45.0 PST             (Avol1 v9.2,12/11 CSMIP)
CSMIP Preliminary Processing            (Origin:  To be determined)
89146-L2500-12044.02                 Start time:  2/13/12, 21:06:45.0 UTC (GPS)
Station No. 89146   40.941N, 123.633W      Etna  s/n 2500  (3 Chns of  3 at Sta)
Willow Creek                              CGS
Chan {channel:>2}: {direction}
Record of Mon Feb 13, 2012 13:06:45.0 PST    Mon Feb 13, 2012 13:06:45.0 PST
Accelerogram bandpass filtered with 3 dB pts at   .30 and 40.00 cyc/sec
{count:6d} points of instrument- and baseline-corrected accel, veloc and displ data
At equally-spaced intervals of   {step}  sec.
Peak acceleration =    77.280    cm/sec/sec  at   30.585   sec.

89146-L2500-12044.02      Willow Creek    Chan {channel:>2}: {direction}

    1  100    1    3    3  200    1    3    1   24   12 2500    089146    1    0
  .0108814  .6700000 66.000000  .0037019      .000 629.00000  .0791795 30.590000
 91.900000  .2980232  .4738048      .000 5.0000000-999.00000 4.0000000      .000
"""


def csmip(a, v, d, step, channel="1", direction="360 Deg"):
    """One channel of a V2 file: three sections in columns of ten characters; `step` is text, as in " .005"."""
    text = _CSMIP.format(channel=channel, direction=direction, count=len(a), step=step)
    for kind, unit, values in (("accel", "cm/sec2", a), ("veloc", "cm/sec", v), ("displ", "cm", d)):
        text += f"{len(values):6d} points of {kind} data equally spaced at {step} sec, in {unit}. (8f10.6)\n"
        cells = [_fortran(value) for value in values]
        text += "".join("".join(cells[i : i + 8]) + "\n" for i in range(0, len(cells), 8))
    return text + f"/&  ----------  End of data for channel {channel:>2}  ----------\n"


def _fortran(value):
    """F10.6 as Fortran prints it: no zero before the point, and no blank where the number fills its column."""
    text = f"{value:.6f}".replace("-0.", "-.")
    text = text[1:] if text.startswith("0.") else text
    assert len(text) <= 10
    return f"{text:>10}"


_ESM = """\
EVENT_NAME: GREECE
EVENT_ID: EMSC-20190728_0000106
EVENT_DATE_YYYYMMDD: 20190728
EVENT_TIME_HHMMSS: 160908
EVENT_LATITUDE_DEGREE: 38.1000
EVENT_LONGITUDE_DEGREE: 23.5400
EVENT_DEPTH_KM: 9.0
HYPOCENTER_REFERENCE: EMSC-CSEM
MAGNITUDE_W:
MAGNITUDE_W_REFERENCE:
MAGNITUDE_L: 4.6
MAGNITUDE_L_REFERENCE: EMSC-CSEM
FOCAL_MECHANISM:
NETWORK: HI
STATION_CODE: ARS1
STATION_NAME: Town Hall,Argos,Argolis,Peloponnese
STATION_LATITUDE_DEGREE: 37.634900
STATION_LONGITUDE_DEGREE: 22.729300
STATION_ELEVATION_M: 34
LOCATION:
SENSOR_DEPTH_M: 0.0
VS30_M/S:
SITE_CLASSIFICATION_EC8:
MORPHOLOGIC_CLASSIFICATION:
EPICENTRAL_DISTANCE_KM: 88.1
EARTHQUAKE_BACKAZIMUTH_DEGREE: 53.9
DATE_TIME_FIRST_SAMPLE_YYYYMMDD_HHMMSS: 20190728_160919.870
DATE_TIME_FIRST_SAMPLE_PRECISION: milliseconds
SAMPLING_INTERVAL_S: {dt:.6f}
NDATA: {count}
DURATION_S: {duration:.3f}
STREAM: {stream}
UNITS: {unit}
INSTRUMENT: sensor = CMG_5TD_ACCELEROMETER_GURALP [Unknown] | digitizer = Unknown [Unknown]
INSTRUMENT_ANALOG/DIGITAL: D
INSTRUMENTAL_FREQUENCY_HZ:
INSTRUMENTAL_DAMPING:
FULL_SCALE_G:
N_BIT_DIGITAL_CONVERTER:
PGA_CM/S^2: 0.300022
TIME_PGA_S: 20.670000
BASELINE_CORRECTION: BASELINE REMOVED
FILTER_TYPE: BUTTERWORTH
FILTER_ORDER: 2
LOW_CUT_FREQUENCY_HZ: 0.100
HIGH_CUT_FREQUENCY_HZ: 30.000
LATE/NORMAL_TRIGGERED: NT
DATABASE_VERSION: DYNA 1.0
HEADER_FORMAT: DYNA 1.2
DATA_TYPE: {kind}
PROCESSING: manual (Paolucci et al., 2011)
DATA_TIMESTAMP_YYYYMMDD_HHMMSS: 20190730_115604.782
DATA_LICENSE:
DATA_CITATION:
DATA_CREATOR:
ORIGINAL_DATA_MEDIATOR_CITATION:
ORIGINAL_DATA_MEDIATOR: http://eida.gein.noa.gr/
ORIGINAL_DATA_CREATOR_CITATION:
ORIGINAL_DATA_CREATOR:
USER1: processing.py HI.ARS1..HNE.D.20190728.160908.X.ACC.ASC --le 0.100 --he 30.000
USER2:
USER3:
USER4:
USER5:
"""


def esm(values, dt, stream="HNE", unit="cm/s^2", kind="ACCELERATION"):
    """One component of ESM or ITACA, in cm/s2."""
    assert _ESM.count("\n") == 64
    count, duration = len(values), len(values) * dt
    header = _ESM.format(dt=dt, count=count, duration=duration, stream=stream, unit=unit, kind=kind)
    return header + "".join(f"{value:.6f}\n" for value in values)


_KNET = """\
Origin Time       2018/01/24 19:51:00
Lat.              41.0
Long.             142.5
Depth. (km)       30
Mag.              6.2
Station Code      AOM002
Station Lat.      41.3280
Station Long.     140.8132
Station Height(m) 10
Record Time       2018/01/24 19:51:42
Sampling Freq(Hz) {rate}Hz
Duration Time(s)  {duration}
Dir.              {direction}
Scale Factor      7845(gal)/8223790
Max. Acc. (gal)   {peak:.3f}
Last Correction   2018/01/24 19:51:42
Memo.
"""


def knet(gal, rate, offset=13324, direction="E-W"):
    """One component of K-NET: counts with an offset, eight to a line; gal must fill whole seconds."""
    counts = np.round(np.asarray(gal) / (7845 / 8223790)).astype(int) + offset
    peak = np.abs(counts - counts.mean()).max() * 7845 / 8223790
    text = _KNET.format(rate=rate, duration=len(counts) // rate, direction=direction, peak=peak)
    cells = [f"{count:8d} " for count in counts]
    return text + "".join("".join(cells[i : i + 8]) + "\n" for i in range(0, len(cells), 8))
