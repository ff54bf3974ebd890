"""Audits: programs that try to disprove the guarantee, and report what they measured."""
