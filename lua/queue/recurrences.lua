--[[
Returns recurring jobs: the known ones of `wanted`; else, from place `after` on, those that are `short` of future times,
or all, by their next run. `next` is the place after the last one it looked at, or -1 at the end. Places shift when runs
happen. `next_ms` is 0 for one that has ended, or that knows no future time; `last_ms` is the run that spawned the last
job, 0 for none, and `known_ms` the last known time. A page ends once payloads reach 4 MiB, and `next` is the place
after them, also within `wanted`.

@returns page  now_ms:integer next:integer recurrences:[id:text next_ms:integer last_ms:integer last_job:integer runs:integer known_ms:integer short:flag every_ms:integer offset_ms:integer cron:text time_zone:text missed:integer limit:integer until_ms:integer name:text payload:bytes priority:integer max_attempts:integer max_run_ms:integer backoff:integer backoff_ms:integer backoff_max_ms:integer jitter:integer group:text unique:text till:text window_ms:integer trace:text tags:text]
@cost    O(limit x known times), and 4 MiB of payloads
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local after = tonumber(ARGV[2]) -- integer: how many to skip
local limit = tonumber(ARGV[3]) -- integer: how many to look at
local only_short = ARGV[4] == '1' -- flag: whether to return only those that are short of times
local wanted, wanted_at = ARGV, 5 -- repeated (id:text): the recurring jobs

try(open_queue(keys.meta, codec))
local from, to = string.format('%.0f', after), string.format('%.0f', after + limit - 1)
local ids, next_place = {}, -1
if #wanted >= wanted_at then
  for at = wanted_at, #wanted, 1 do
    ids[#ids + 1] = wanted[at]
  end
else
  ids = only_short and redis.call('ZRANGE', keys.short, from, to)
    or redis.call('ZRANGE', keys.recurring, from, to)
  next_place = #ids < limit and -1 or after + #ids
end
local reported, budget = {}, budget_of(math.huge)
for at, id in ipairs(ids) do
  spend(budget, 1, report_recurrence(reported, keys.recurrences, id))
  if not is_left(budget) then
    next_place = (at < #ids or next_place ~= -1) and after + at or -1
    break
  end
end
return { 'page', math.floor(clock_us() / 1000), next_place, reported }
