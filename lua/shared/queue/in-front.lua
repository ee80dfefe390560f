-- In the sorted set of prioritized jobs before all priorities: there stand jobs that came back.
local IN_FRONT = '-4294967296'
