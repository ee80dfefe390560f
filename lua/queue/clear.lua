--[[
Removes everything of the queue, but for those who listen to its events. Workers that have jobs lose them. Safe to repeat.

@returns cleared  existed:flag
@cost    O(keys); Redis frees the memory in the background
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local ready = KEYS[3] -- list: ready jobs without group and priority
local prioritized = KEYS[4] -- sorted set: ready jobs with a priority -> the lower the sooner
local scheduled = KEYS[5] -- sorted set: jobs that wait for their time -> that time, in ms
local leases = KEYS[6] -- sorted set: claimed jobs -> when the lease ends, in ms
local grouped = KEYS[7] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[8] -- hash: the groups
local turns = KEYS[9] -- list: groups that may be served, in turn
local held = KEYS[10] -- sorted set: groups that their rate holds back -> until when, in ms
local ids = KEYS[11] -- hash: ids and unique keys of users
local dead = KEYS[12] -- sorted set: dead jobs -> when they died, in ms
local failed = KEYS[13] -- sorted set: dead jobs -> number of the kind of their failure
local kinds = KEYS[14] -- hash: kinds of failures
local done = KEYS[15] -- sorted set: jobs that are done and kept -> when they ended, in ms
local idle = KEYS[16] -- sorted set: workers that wait -> their number
local blocked = KEYS[17] -- sorted set: jobs that wait for their parents -> their number
local children = KEYS[18] -- sorted set: ref of a parent and child that waits for it
local parents = KEYS[19] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local outbox = KEYS[20] -- sorted set: what goes to other queues -> its number
local inbox = KEYS[21] -- hash: other queue -> number of the newest that came from it
local recurrences = KEYS[22] -- hash: recurring jobs
local recurring = KEYS[23] -- sorted set: recurring jobs -> when they run next, in ms
local short = KEYS[24] -- sorted set: recurring jobs that run out of known times -> the last of them, in ms
local results = KEYS[25] -- hash: ends of jobs, for those who ask
local listeners = KEYS[26] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[27] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local notes = KEYS[28] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[29] -- hash: statistics of minutes, hours and days
local channel = ARGV[1] -- text: beginning of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether those are sharded channels
local counted = ARGV[3] == '1' -- flag: whether the number of those who hear tells who is gone

-- Under its name alone a queue that is spread has only the number of its partitions: see shared/agreement.
local layout = redis.call('HGET', meta, 'layout')
if layout and string.find(layout, '^in %d+ partitions$') then
  return redis.error_reply('LAYOUT ' .. layout)
end
-- The others look by themselves.
local MOST_CALLED = 100
local waiting = { idle = redis.call('ZCARD', idle) }
local existed = math.min(waiting.idle, 1)
local how = { channel = channel, sharded = sharded, counted = counted }
for _ = 1, MOST_CALLED do
  local worker = pop_idle(idle, waiting)
  if not worker then
    break
  end
  tell_idle(worker, how)
end
local keys = {
  jobs,
  ready,
  prioritized,
  scheduled,
  leases,
  grouped,
  groups,
  turns,
  held,
  ids,
  dead,
  failed,
  kinds,
  done,
  idle,
  blocked,
  children,
  parents,
  outbox,
  inbox,
  recurrences,
  recurring,
  short,
  results,
  tagged,
  notes,
  stats,
}
-- One with a state that nobody has begun is none: somebody listens.
if redis.call('HEXISTS', meta, 'codec') == 1 or redis.call('HEXISTS', meta, 'state') == 0 then
  existed = math.max(existed, redis.call('EXISTS', meta))
end
redis.call('UNLINK', meta)
if redis.call('UNLINK', unpack(keys)) > 0 then
  existed = 1
end
-- Those who listen hear of what comes next, too.
if redis.call('EXISTS', listeners) == 1 then
  local now_ms = math.floor(clock_us() / 1000)
  local _, last_ms = look_at_listeners(listeners, '', now_ms)
  if last_ms > now_ms then
    publish(listeners, { { 'cleared', '0', '', '', 0, 0, 0, '' } }, now_ms)
    local queue = open_queue(meta, '', '')
    queue.listened_ms = last_ms
    save_queue(meta, queue)
  else
    redis.call('UNLINK', listeners)
  end
end
return { 'cleared', existed }
