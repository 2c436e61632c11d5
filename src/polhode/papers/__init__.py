"""The papers' tables and figures, computed anew beside what they print: one module for each paper."""
