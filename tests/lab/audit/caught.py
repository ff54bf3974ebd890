"""Whether the replay audit notices a broken twin of the library."""

from perrecord.lab.audit.replay.audit import replay


def caught(*messages, first=0, violations=1):
    """Tell whether the audit finds such a fault in one table, among its first violations."""
    found = replay(1, seed=2, first=first, most_violations=violations).failures
    return any(each in failure for failure in found for each in messages)
