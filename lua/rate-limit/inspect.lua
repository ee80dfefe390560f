--[[
Returns an overview of a subject for people: what is free, and which takes hold places, in the order in which their
leases end. `held` gives the limit by its place, counted from 1.

@returns inspection  known:flag now_us:integer limits:[free:integer reset_us:integer] held:[limit:integer token:integer ends_us:integer]
@cost    O(limits x 65 + places of concurrency limits)
@reads
]]
local limits, limits_at = ARGV, 1 -- repeated LIMITS: the limits

local subject = try(open_subject(keys.state, '', limits, limits_at))
local server_us = clock_us()
local meters = read_meters(subject, limits, limits_at, server_us)
local held = {}
for place, meter in ipairs(meters) do
  for at = 1, meter.held or 0 do
    local ends_us, token = pair_at(meter.leases, at)
    held[#held + 1] = place
    held[#held + 1] = token
    held[#held + 1] = ends_us - subject.offset_us
  end
end
return { 'inspection', subject.exists and 1 or 0, server_us, report_meters(meters), held }
