--[[
Returns the answer that a take would get now, and takes nothing.

@returns allowed  now_us:integer limits:[free:integer reset_us:integer]
@returns denied   denier:integer wait_us:integer now_us:integer limits:[free:integer reset_us:integer]
@cost    O(limits x 65 + places of concurrency limits)
@reads
]]
local cost = tonumber(ARGV[1]) -- integer: units of the take in question
local limits, limits_at = ARGV, 2 -- repeated LIMITS: the limits

local subject = try(open_subject(keys.state, '', limits, limits_at))
local server_us = clock_us()
local meters = read_meters(subject, limits, limits_at, server_us)
if is_too_much(meters, cost) then
  return redis.error_reply('INVALID cost: no wait is long enough for so much')
end
local wait_us, denier = longest_wait(meters, cost)
if wait_us > 0 then
  return { 'denied', denier, wait_us, server_us, report_meters(meters) }
end
return { 'allowed', server_us, report_meters(meters) }
