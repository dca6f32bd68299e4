"""The four tools that every session of a task has. Registering them is the harness's work."""

from typing import Final

PREPARE_DOCUMENT: Final = "job_prepare_document"
BOOLEAN_TRUE: Final = "job_boolean_true"
BOOLEAN_FALSE: Final = "job_boolean_false"
PREREQUISITE_FAILED: Final = "job_prerequisite_failed"

JOB_TOOLS: Final = (PREPARE_DOCUMENT, BOOLEAN_TRUE, BOOLEAN_FALSE, PREREQUISITE_FAILED)
BOOLEAN_TOOLS: Final = (BOOLEAN_TRUE, BOOLEAN_FALSE)
# Each takes one required string of this name.
ARGUMENT: Final = "argument"
