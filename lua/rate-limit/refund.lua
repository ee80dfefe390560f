--[[
Refunds taken and unused units, never more than the subject has taken. A take is refunded once, by its token; without
one the units count as taken just now. Places in concurrency limits stay as they are. `limits` as after a take.

@returns refunded  now_us:integer limits:[free:integer reset_us:integer]
@returns known     now_us:integer limits:[free:integer reset_us:integer]
@returns absent
@cost    O(limits x 65 + places of concurrency limits)
]]
local caller = ARGV[1] -- text: process and slot; empty: the script does not remember the call
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local token = tonumber(ARGV[3]) -- integer: token of the take; 0: none
local cost = tonumber(ARGV[4]) -- integer: units to give back
local limits, limits_at = ARGV, 5 -- repeated LIMITS: the limits

local subject = try(open_subject(keys.state, caller, limits, limits_at))
local remembered = try(recall_token(subject.record, call))
if not subject.exists then
  return { 'absent' }
end
local server_us = clock_us()
local meters = read_meters(subject, limits, limits_at, server_us)
if remembered then
  return { 'refunded', server_us, report_meters(meters) }
end
if token > 0 and is_refunded(keys.state, subject.refunded, token) then
  return { 'known', server_us, report_meters(meters) }
end

refund_meters(meters, cost, token > 0 and token or subject.now_us)
-- Removes nothing. After it a server out of memory accepts the next writes; if the right to it is missing, everything
-- stays as it was.
redis.call('HDEL', keys.state, '')
local written = {}
if token > 0 then
  written = note_refunded(keys.state, subject.refunded, token, subject.now_us)
end
local is_one_more = written[3] ~= nil
save_subject(keys.state, subject, meters, call, subject.now_us, written)
if is_one_more then
  forget_old_fields(keys.state, subject.now_us)
end
return { 'refunded', server_us, report_meters(meters) }
