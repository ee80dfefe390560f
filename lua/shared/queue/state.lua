-- The main key of a queue: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the payloads; the layout is 2 from the first payload on that stands apart,
--                    which those who know only 1 would take for none
--   partitions       over how many the queue is spread, where this is one of them; see shared/take-up
--   <caller>         the record of a slot; see shared/calls
--   settings, burst  what people set; see shared/queue/settings and shared/queue/burst
--   state            the numbers below, as doubles one behind the other
--     began_us       server microseconds at which the queue began
--     last           the newest job: its server microsecond, or one more than the job before
--     token          the newest token of an attempt
--     groups, kinds  the newest numbers of a group of jobs and of a kind of failure
--     idle, idlers   workers that wait to be woken, and the newest number of one
--     watch_ms       when the one of them comes back that watches the time; 0: nobody watches
--     turn           groups served since a job without one was
--     ghosts         entries of the ready list whose jobs are elsewhere, or gone
--     marks          what the queue was ever used for; see MARKS
--     due_ms         no scheduled job is due and no lease ends before; see shared/queue/note-due
--     arrival_us     theoretical arrival time of the queue's rate
--     chores         what waits for some process to see to it; see CHORES in src/queue/chores.ts
--     sent           the newest number of what goes to other queues
--     listened_ms    until when somebody listens to events
--     minute         to which the newest notes of the statistics belong; 0: there are none
--     enqueued, acked, retried, buried, reclaimed, cancelled    how often
--     ready, scheduled, blocked, claimed, dead, done            bytes of jobs in that state
--     usual          behind them, the name of the first plain job; records of others with that name do not repeat it
local QUEUE_LAYOUT, APART_LAYOUT = '1', '2'
local NUMBERS_BYTES = 29 * 8

-- A queue that does not exist yet has began_us 0 and takes the caller's codec.
local function open_queue(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'state', 'settings', caller, 'partitions')
  local layout, packed = stored[1] or QUEUE_LAYOUT, stored[3] or string.rep('\0', NUMBERS_BYTES)
  local is_apart = layout == APART_LAYOUT
  if is_apart then
    layout = QUEUE_LAYOUT
  end
  -- An unknown layout may have another state; the caller refuses it before it looks.
  local readable = layout == QUEUE_LAYOUT and packed or string.rep('\0', NUMBERS_BYTES)
  local began_us, last, token, groups, kinds, idle, idlers, watch_ms, more =
    struct.unpack('>dddddddd', readable)
  local turn, ghosts, marks, due_ms, arrival_us, chores, sent, listened_ms, minute, rest =
    struct.unpack('>ddddddddd', readable, more)
  local enqueued, acked, retried, buried, reclaimed, cancelled, sizes =
    struct.unpack('>dddddd', readable, rest)
  local ready, scheduled, blocked, claimed, dead, done = struct.unpack('>dddddd', readable, sizes)
  -- One constructor: a table that grows field by field is copied again and again.
  return {
    layout = layout,
    is_apart = is_apart,
    codec = stored[2] or codec,
    packed = packed,
    settings = stored[4],
    record = stored[5],
    partitions = tonumber(stored[6] or 0),
    began_us = began_us,
    last = last,
    token = token,
    groups = groups,
    kinds = kinds,
    idle = idle,
    idlers = idlers,
    watch_ms = watch_ms,
    turn = turn,
    ghosts = ghosts,
    marks = marks,
    due_ms = due_ms,
    arrival_us = arrival_us,
    chores = chores,
    sent = sent,
    listened_ms = listened_ms,
    minute = minute,
    enqueued = enqueued,
    acked = acked,
    retried = retried,
    buried = buried,
    reclaimed = reclaimed,
    cancelled = cancelled,
    ready = ready,
    scheduled = scheduled,
    blocked = blocked,
    claimed = claimed,
    dead = dead,
    done = done,
    usual = string.sub(readable, NUMBERS_BYTES + 1),
  }
end
