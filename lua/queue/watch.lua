--[[
Another queue has jobs that wait for these: it is told, by way of the outbox, when they end, or at once where they have.
`absent` are not known, and what they came to is in the outbox, if that queue is to be told of it: none is named as long as more is
to be put there. Safe to repeat: who asks twice is perhaps told twice.

@returns watched  chores:integer absent:[id:text]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local ready = KEYS[3] -- list: ready jobs without group and priority
local prioritized = KEYS[4] -- sorted set: ready jobs with a priority -> the lower the sooner
local scheduled = KEYS[5] -- sorted set: jobs that wait for their time -> that time, in ms
local grouped = KEYS[6] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[7] -- hash: the groups
local turns = KEYS[8] -- list: groups that may be served, in turn
local held = KEYS[9] -- sorted set: groups that their rate holds back -> until when, in ms
local ids = KEYS[10] -- hash: ids and unique keys of users
local dead = KEYS[11] -- sorted set: dead jobs -> when they died, in ms
local failed = KEYS[12] -- sorted set: dead jobs -> number of the kind of their failure
local kinds = KEYS[13] -- hash: kinds of failures
local blocked = KEYS[14] -- sorted set: jobs that wait for their parents -> their number
local children = KEYS[15] -- sorted set: ref of a parent and child that waits for it
local parents = KEYS[16] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local outbox = KEYS[17] -- sorted set: what goes to other queues -> its number
local tagged = KEYS[18] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local idle = KEYS[19] -- sorted set: workers that wait -> their number
local results = KEYS[20] -- hash: ends of jobs, for those who ask
local listeners = KEYS[21] -- hash: who listens to events, where, and the number of the newest message
local notes = KEYS[22] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[23] -- hash: statistics of minutes, hours and days
local target = ARGV[1] -- text: name of the other queue
local channel = ARGV[2] -- text: beginning of the channels of processes
local sharded = ARGV[3] == '1' -- flag: whether those are sharded channels
local counted = ARGV[4] == '1' -- flag: whether the number of those who hear tells who is gone
local wanted, wanted_at = ARGV, 5 -- repeated (id:text): the jobs

local keys = {
  jobs = jobs,
  ready = ready,
  prioritized = prioritized,
  scheduled = scheduled,
  grouped = grouped,
  groups = groups,
  turns = turns,
  held = held,
  ids = ids,
  dead = dead,
  failed = failed,
  kinds = kinds,
  blocked = blocked,
  children = children,
  parents = parents,
  outbox = outbox,
  tagged = tagged,
  results = results,
  listeners = listeners,
  notes = notes,
  stats = stats,
}

local queue = open_queue(meta, '', '')
if string.find(queue.layout, '^in %d+ partitions$') then
  -- No job is here under this name.
  return { 'watched', 0, { unpack(wanted, wanted_at) } }
end
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if queue.listened_ms > now_ms then
  queue.events = {}
end
refuse_when_full(keys)
try_rights(meta, queue, keys)
local absent = {}
-- What has ended is put out at once, from where it is stored.
queue.copied = CALL_BYTES
for at = wanted_at, #wanted, 1 do
  local seq = link_here(keys, queue, wanted[at])
  if seq then
    redis.call('ZADD', children, '0', seq .. '\0q' .. target .. '\1' .. wanted[at])
  else
    absent[#absent + 1] = wanted[at]
  end
end
-- What calls before have left, for it was too large for them.
queue.settling = queue.settling or redis.call('ZRANGE', parents, '0', '0', 'WITHSCORES')[2] == '0'
if queue.settling then
  local became_ready = settle_children(keys, queue, now_us, 100)
  local how = { channel = channel, sharded = sharded, counted = counted }
  if queue.idle > 0 then
    call_idle(idle, queue, math.min(became_ready, 8), now_ms, how)
    see_to_rest(idle, queue, now_ms, how)
  end
  tell_others(keys, queue, now_ms, how)
  if redis.call('ZRANGE', parents, '0', '0', 'WITHSCORES')[2] == '0' then
    -- One of them may have ended just now; it is asked after again.
    absent = {}
  end
end
save_queue(meta, queue)
return { 'watched', queue.chores, absent }
