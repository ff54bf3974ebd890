"""What a query asks for: one file for each kind of answer."""

from perrecord.queries.answers.answer import Answer
from perrecord.queries.answers.average import Average
from perrecord.queries.answers.count import Count
from perrecord.queries.answers.distinct import CountDistinct
from perrecord.queries.answers.quantile import Quantile
from perrecord.queries.answers.total import Sum

__all__ = ["Answer", "Average", "Count", "CountDistinct", "Quantile", "Sum"]
