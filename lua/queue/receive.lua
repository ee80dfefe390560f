--[[
Takes what comes from the outbox of another queue, in its order: jobs, and news of parents. What came before is passed
over, by its number, so the call is safe to repeat, by several processes at once. `newest` is the number of the newest that came
before. That a parent is not known has instead the newest job that was asked for (0: any): where others wait for that parent that came
later, it is asked after again for these. Behind so much work no more is taken: `taken` says how many entries were.

@returns received  chores:integer newest:integer taken:integer
@returns unagreed
@cost    O(entries x log n),
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
local idle = KEYS[18] -- sorted set: workers that wait -> their number
local inbox = KEYS[19] -- hash: other queue -> number of the newest that came from it
local results = KEYS[20] -- hash: ends of jobs, for those who ask
local listeners = KEYS[21] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[22] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local notes = KEYS[23] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[24] -- hash: statistics of minutes, hours and days
local done = KEYS[25] -- sorted set: jobs that are done and kept -> when they ended, in ms
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: over how many the queue is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local source = ARGV[4] -- text: name of the other queue
local channel = ARGV[5] -- text: beginning of the channels of processes
local sharded = ARGV[6] == '1' -- flag: whether those are sharded channels
local counted = ARGV[7] == '1' -- flag: whether the number of those who hear tells who is gone
local entries, entries_at = ARGV, 8 -- repeated (number:integer what:bytes): see shared/queue/outbox; 'a<id>': that parent is not known

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
  idle = idle,
  results = results,
  listeners = listeners,
  tagged = tagged,
  notes = notes,
  stats = stats,
  done = done,
}

local queue = open_queue(meta, codec, '')
if is_stale_news(queue, partitions) and not brings_jobs(entries, entries_at) then
  return { 'received', 0, 0, (#entries - entries_at + 1) / 2 }
end
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
if queue.codec ~= codec then
  return redis.error_reply('CODEC ' .. queue.codec)
end
if queue.partitions ~= partitions then
  if queue.partitions > 0 then
    return redis.error_reply('PARTITIONS ' .. queue.partitions)
  end
  -- Only here: a script makes its functions anew in every call.
  if not take_up(meta, partitions, proof) then
    return { 'unagreed' }
  end
end

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local how = { channel = channel, sharded = sharded, counted = counted }
if queue.listened_ms > now_ms then
  queue.events = {}
end
refuse_when_full(keys)
try_rights(meta, queue, keys)
local known, tally = tonumber(redis.call('HGET', inbox, source) or 0), new_spec_tally()
local from = { source = source, newest = known }
local taken = take_entries(keys, meta, queue, tally, from, entries, entries_at, now_us)
if from.newest > known then
  redis.call('HSET', inbox, source, exact(from.newest))
end
if queue.settling then
  tally.ready = tally.ready + settle_news(keys, queue, now_us, 100)
end
see_to_new(keys, queue, tally, now_ms, how)
tell_others(keys, queue, now_ms, how)
save_queue(meta, queue)
return { 'received', queue.chores, known, taken }
