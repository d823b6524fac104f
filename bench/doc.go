// Package bench measures Duly on the machine at hand, through the whole engine
// and with the durability that production has. It prints figures; it judges
// nothing and no test asserts them.
package bench
