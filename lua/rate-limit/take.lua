--[[
Takes units from every limit of a subject, or from none: a denied take consumes and writes nothing. A repeated call
returns its first token and counts once. The token is greater than those of all earlier takes; a concurrency limit
assigns a place under it. Limits are in the order given; `denier` is the place of the limit with the longest wait,
counted from 1.

@returns taken   token:integer now_us:integer limits:[free:integer reset_us:integer]
@returns denied  denier:integer wait_us:integer now_us:integer limits:[free:integer reset_us:integer]
@cost    O(limits x 65 + places of concurrency limits)
]]
local caller = ARGV[1] -- text: process and slot; empty: the script does not remember the call
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local cost = tonumber(ARGV[3]) -- integer: units to take
local limits, limits_at = ARGV, 4 -- repeated LIMITS: the limits; algorithm: gcra, sliding-window or concurrency

local subject = try(open_subject(keys.state, caller, limits, limits_at))
local remembered = try(recall_token(subject.record, call))
local server_us = clock_us()
local meters = read_meters(subject, limits, limits_at, server_us)
if remembered then
  return { 'taken', remembered, server_us, report_meters(meters) }
end
if is_too_much(meters, cost) then
  return redis.error_reply('INVALID cost: no wait is long enough for so much')
end
local wait_us, denier = longest_wait(meters, cost)
if wait_us > 0 then
  if subject.stepped then
    keep_time(keys.state, subject.token, subject.taken_us, subject.offset_us)
  end
  return { 'denied', denier, wait_us, server_us, report_meters(meters) }
end

local token = math.max(subject.now_us, subject.token + 1)
subject.token, subject.taken_us = token, math.max(subject.now_us, subject.taken_us)
for _, meter in ipairs(meters) do
  meter.token = token
  if meter.algorithm == 'gcra' then
    count_gcra(meter, cost)
  elseif meter.algorithm == 'sliding-window' then
    count_sliding_window(meter, cost)
  else
    count_concurrency(meter, token)
  end
end
save_subject(keys.state, subject, meters, call, token, {})
return { 'taken', token, server_us, report_meters(meters) }
