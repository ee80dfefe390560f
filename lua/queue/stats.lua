--[[
Returns statistics: the events of each minute, hour or day, of all jobs or of those of a name; it leaves out periods
without events. `waits` counts claims, by how long the jobs had been ready, `runs` acks, retries and failures, by how
long ago the job had been claimed: of each bucket its number, a byte, and how many, five bytes. Bucket 0 is below one
millisecond; bucket b begins at (8 + (b - 1) % 8) x 2^(floor((b - 1) / 8) - 3) ms and ends before (9 + (b - 1) % 8)
times that power. Kept are 120 minutes, 72 hours and 90 days, in UTC, and the first 100 `names`; jobs of other names are
included in the total only.

@returns statistics  first_ms:integer last_ms:integer length_ms:integer names:[name:text] periods:[at_ms:integer enqueued:integer acked:integer retried:integer failed:integer reclaimed:integer cancelled:integer wait_sum_us:integer wait_max_us:integer waits:bytes run_sum_us:integer run_max_us:integer runs:bytes]
@cost    O(periods + names), at most 120 and 100, and the unfolded notes
@reads
]]
local name = ARGV[1] -- text: name of the jobs; empty: all
local by = ARGV[2] -- text: minute, hour or day
local from_ms = tonumber(ARGV[3]) -- integer: time of the first period; 0: `count` periods back
local to_ms = tonumber(ARGV[4]) -- integer: time of the last period; 0: now
local count = tonumber(ARGV[5]) -- integer: how many periods at most; 0: all kept ones

try(open_queue(keys.meta))
local period = PERIODS[by]
if not period then
  return redis.error_reply('INVALID by: minute, hour or day')
end
local length_ms = period.length_ms
local now = math.floor(clock_us() / 1000 / length_ms)
local last = to_ms > 0 and math.min(now, math.floor(to_ms / length_ms)) or now
local first = math.max(now - period.slots + 1, math.floor(from_ms / length_ms))
if count > 0 then
  first = math.max(first, last - count + 1)
end
local changed = changed_periods(
  keys.stats,
  redis.call('GET', keys.notes) or '',
  redis.call('HGET', keys.stats, 'names') or ''
)
local reported, fields = {}, {}
for number = first, last do
  fields[#fields + 1] = field_of(period, number, name)
end
local stored = #fields > 0 and redis.call('HMGET', keys.stats, unpack(fields)) or {}
for at, field in ipairs(fields) do
  report_period(reported, changed[field] or stored[at], first + at - 1, length_ms)
end
return { 'statistics', first * length_ms, last * length_ms, length_ms, parse_names(changed.names), reported }
