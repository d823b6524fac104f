//go:build unix

package effect_test

const roleVariable = "DULY_TEST_ROLE"

func playRole(role string) int { return 1 }
