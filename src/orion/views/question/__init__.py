"""Runs the plans of answers over rows: joins, groups, calls over rows, order."""

from orion.views.question.run import QuestionTooLargeError, Rows, answer_question

__all__ = ["QuestionTooLargeError", "Rows", "answer_question"]
