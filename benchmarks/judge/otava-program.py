"""What Apache Otava says of series that grow by one run a night.

argv[1]: a JSON file with [{"values": [[number per measure] per run], "from": first run that is checked}, ...]. Prints, per
series, the runs after which it reported a new change for the worse (larger) that it dates to the checked runs.
"""

import json
import sys

from otava.analysis import compute_change_points

WINDOW = 50  # the defaults of `otava analyze`
P_VALUE = 0.001
MAGNITUDE = 0.05  # the same margin as ours
NEAR = 3  # a change that moves by so many runs as runs are added is the same


def alarms(values, first):
    found = []
    for measure in range(len(values[0])):
        known = []
        series = [run[measure] for run in values]
        for end in range(first + 1, len(series) + 1):
            points, _ = compute_change_points(
                series[:end], window_len=WINDOW, max_pvalue=P_VALUE, min_magnitude=MAGNITUDE
            )
            for point in points:
                worse = point.stats.mean_2 > point.stats.mean_1
                if not worse or point.index < first - NEAR or any(abs(point.index - k) <= NEAR for k in known):
                    continue
                known.append(point.index)
                found.append(end - 1)
    return sorted(found)


with open(sys.argv[1]) as file:
    print(json.dumps([alarms(each["values"], each["from"]) for each in json.load(file)]))
