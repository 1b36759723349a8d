"""Tests of clouds."""
