-- Changes to the main key of a queue; see shared/queue/state for its fields.

-- Stores a queue that did not exist, so that its main key is there from its first write on.
local function begin_queue(meta, queue, now_us)
  if queue.began_us == 0 then
    queue.began_us = now_us
    -- Of what comes now everything notes when it is due.
    queue.due_ms = 9007199254740991
    redis.call('HSET', meta, 'layout', queue.layout, 'codec', queue.codec)
    -- Those who waited for it were to be forgotten; see shared/queue/save-awaited.
    redis.call('PERSIST', meta)
  end
end

local function packed_state(queue)
  return struct.pack(
    '>dddddddddddddddddddddddddddddc0',
    queue.began_us,
    queue.last,
    queue.token,
    queue.groups,
    queue.kinds,
    queue.idle,
    queue.idlers,
    queue.watch_ms,
    queue.turn,
    queue.ghosts,
    queue.marks,
    queue.due_ms,
    queue.arrival_us,
    queue.chores,
    queue.sent,
    queue.listened_ms,
    queue.minute,
    queue.enqueued,
    queue.acked,
    queue.retried,
    queue.buried,
    queue.reclaimed,
    queue.cancelled,
    queue.ready,
    queue.scheduled,
    queue.blocked,
    queue.claimed,
    queue.dead,
    queue.done,
    queue.usual
  )
end

-- Writes the state, and beside it the record of a call where there is one. Answers how many fields came to what stays.
local function write_state(meta, queue, packed, caller, record)
  if queue.stands_apart and not queue.is_apart then
    redis.call('HSET', meta, 'layout', APART_LAYOUT)
  end
  if queue.began_us == 0 then
    save_awaited(meta, queue, packed, caller, record)
    return 0
  elseif caller then
    return redis.call('HSET', meta, 'state', packed, caller, record)
  end
  return redis.call('HSET', meta, 'state', packed)
end

-- Writes the state if it has changed.
local function save_queue(meta, queue)
  local packed = packed_state(queue)
  if packed ~= queue.packed then
    write_state(meta, queue, packed)
  end
end
