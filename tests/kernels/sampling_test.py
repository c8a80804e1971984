"""Counters of a sample of blocks, scaled, beside those of all blocks: the first and the last rung of every family.

    sampling_test.py RIDGE LADDERS [FAMILY …]    LADDERS is the program ridge_ladders
"""
import sys

from claims_test import families, profile

COUNTERS = ("warps", "threads", "requests", "sectors", "wavefronts", "branches", "barriers", "bytes_used")
BLOCKS = 256
TOLERANCE = 0.02


def totals(launch):
    scale = launch["blocks"] / launch["blocks_run"]
    return {name: scale * sum(i.get(name, 0) for i in launch["instructions"]) for name in COUNTERS}


def main():
    sampled = refused = small = wrong = 0
    for family in families():
        operator = family["operators"][0]["name"]
        for rung in (family["rungs"][0], family["rungs"][-1]):
            name = f"{family['family']}/{rung['name']}"
            header, whole = profile(operator, rung["name"])
            if "error" in header:
                continue
            _, some = profile(operator, rung["name"], RIDGE_PROFILE_BLOCKS=str(BLOCKS))
            for launch, sample in zip(whole, some):
                if "not_sampled" in sample:
                    refused += 1
                elif sample["blocks_run"] == launch["blocks_run"]:
                    small += 1
                else:
                    sampled += 1
                    ours, truth = totals(sample), totals(launch)
                    off = {k: ours[k] / truth[k] - 1 for k in COUNTERS
                           if abs(ours[k] - truth[k]) > TOLERANCE * truth[k]}
                    wrong += bool(off)
                    for counter, error in off.items():
                        print(f"{name}: {counter} is off by {100 * error:.1f} % ({sample['blocks_run']} of "
                              f"{sample['blocks']} blocks)")
    print(f"{sampled} launches sampled, {wrong} of them off; {refused} refused, {small} too small to sample")
    return 1 if wrong or not sampled else 0


if __name__ == "__main__":
    sys.exit(main())
