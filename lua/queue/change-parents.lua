--[[
Lets a blocked job wait for more parents, or for fewer; one that waits for none any more becomes ready, or is scheduled.
A parent that is added must be an older job of this queue, so that jobs never wait in a circle; one that is not known is
taken for done. `left` is how many it waits for now. `state`: it is not blocked but that, or `absent`; `newer`: a parent
is no older job. In both cases nothing is changed. Safe to repeat.

@returns changed  left:integer chores:integer
@returns refused  state:text
@cost    O(parents x log n),
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
local results = KEYS[19] -- hash: ends of jobs, for those who ask
local listeners = KEYS[20] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[21] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local notes = KEYS[22] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[23] -- hash: statistics of minutes, hours and days
local channel = ARGV[1] -- text: beginning of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether those are sharded channels
local counted = ARGV[3] == '1' -- flag: whether the number of those who hear tells who is gone
local id = ARGV[4] -- text: the job
local changes, changes_at = ARGV, 5 -- repeated (adds:flag parent:text): what to add and to remove, 'l<id>' or 'q<queue>\1<id>'

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
  results = results,
  listeners = listeners,
  tagged = tagged,
  notes = notes,
  stats = stats,
}

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local how = { channel = channel, sharded = sharded, counted = counted }
if queue.listened_ms > now_ms then
  queue.events = {}
end
local seq, record, run = find_job(jobs, ids, id)
local state = seq and state_of(run) or 'absent'
if state ~= 'blocked' then
  return { 'refused', state }
end
for at = changes_at, #changes, 2 do
  if changes[at] == '1' and not is_older(keys, changes[at + 1], seq) then
    return { 'refused', 'newer' }
  end
end
if changes[changes_at] == '1' then
  refuse_when_full(keys)
end
try_rights(meta, queue, keys)
local wants = read_wants(keys, seq)
for at = changes_at, #changes, 2 do
  change_parent(keys, queue, seq, wants, changes[at] == '1', changes[at + 1])
end
local became_ready = 0
local left = save_wants(keys, seq, wants)
if
  left == 0 and unblock_child(keys, queue, seq, read_job(record, queue.usual), run, wants.delay_ms, now_us)
then
  became_ready = 1
end
if queue.settling then
  became_ready = became_ready + settle_children(keys, queue, now_us, 100)
  see_to_rest(idle, queue, now_ms, how)
end
if queue.idle > 0 then
  call_idle(
    idle,
    queue,
    math.min(became_ready, 8),
    now_ms,
    { channel = channel, sharded = sharded, counted = counted }
  )
end
tell_others(keys, queue, now_ms, how)
save_queue(meta, queue)
return { 'changed', left, queue.chores }
