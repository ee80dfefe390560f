--[[
Adds future times to a recurring job with a cron expression, in rising order, which the caller computed after
`after_ms`. Only times after the last known one are taken. So a repeated call, and concurrent calls of others, add
nothing. An empty list says that no further time exists. Returns `changed` if the expression or the zone is another one
by now, or times were skipped: then compute them again. At most 2,000 are known at a time.

@returns refilled  next_ms:integer known_ms:integer short:flag
@returns changed
@returns absent
@cost    O(times)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local how = ARGV[2] -- HOW: how waiters are notified
local id = ARGV[5] -- text: the recurring job
local cron = ARGV[6] -- text: the expression of these times
local time_zone = ARGV[7] -- text: its zone
local after_ms = tonumber(ARGV[8]) -- integer: the time after which they come
local given, given_at = ARGV, 9 -- repeated (time_ms:integer): the times

local queue = try(open_to_change(keys.meta, how, codec))
local recurrence = read_recurrence(keys.recurrences, id)
if not recurrence then
  return { 'absent' }
end
local is_same = recurrence.every_ms == 0 and recurrence.cron == cron and recurrence.time_zone == time_zone
if not is_same or after_ms > recurrence.known_ms then
  return { 'changed' }
end
if not recurrence.complete then
  recurrence.complete = #given < given_at
  if is_to_be_replaced(recurrence) then
    recurrence.times = {}
  end
  for at = given_at, #given, 1 do
    local time_ms = tonumber(given[at])
    if recurrence.until_ms > 0 and time_ms > recurrence.until_ms then
      recurrence.complete = true
    elseif time_ms > recurrence.known_ms and #recurrence.times < 2000 then
      recurrence.times[#recurrence.times + 1] = time_ms
      recurrence.known_ms = time_ms
    end
  end
  try_progress(keys)
  save_progress(keys, queue, id, recurrence)
  note_run(keys.idle, queue, recurrence)
  save_queue(keys.meta, queue)
end
return { 'refilled', recurrence.next_ms, recurrence.known_ms, is_short(recurrence) and 1 or 0 }
