--[[
Registers another queue whose jobs wait for these: it gets a notification, through the outbox, when they end, or at once
if they have ended. `absent` jobs are unknown. Their ends are in the outbox, if that queue is to be notified of them:
none is listed as long as more has to be put there. Safe to repeat: a repeated call may notify twice.

@returns watched  chores:integer absent:[id:text]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local target = ARGV[1] -- text: name of the other queue
local how = ARGV[2] -- HOW: how waiters are notified
local wanted, wanted_at = ARGV, 5 -- repeated (id:text): the jobs

local queue = read_queue(keys.meta, '', '')
if string.find(queue.layout, '^in %d+ partitions$') then
  -- No job of this queue has this name.
  return { 'watched', 0, { unpack(wanted, wanted_at) } }
end
try(refusal_of_queue(queue))

begin_call(queue, how)
refuse_when_full(keys)
try_rights(keys, queue)
local absent = {}
-- Jobs that have ended are put out at once, from where their ends are stored.
queue.copied = CALL_BYTES
for at = wanted_at, #wanted, 1 do
  local seq = link_here(keys, queue, wanted[at])
  if seq then
    redis.call('ZADD', keys.children, '0', seq .. '\0q' .. target .. '\1' .. wanted[at])
  else
    absent[#absent + 1] = wanted[at]
  end
end
-- Work left by earlier calls, because it was too large for them.
queue.settling = queue.settling or redis.call('ZRANGE', keys.parents, '0', '0', 'WITHSCORES')[2] == '0'
if queue.settling then
  local became_ready = settle_dependents(keys, queue, 100)
  if queue.idle > 0 then
    call_idle(keys.idle, queue, math.min(became_ready, 8))
    see_to_rest(keys.idle, queue)
  end
  notify_others(keys, queue)
  if redis.call('ZRANGE', keys.parents, '0', '0', 'WITHSCORES')[2] == '0' then
    -- One of them may have ended just now; it is checked again.
    absent = {}
  end
end
save_queue(keys.meta, queue)
return { 'watched', queue.chores, absent }
