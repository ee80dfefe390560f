-- What others are to be told when a call is over: that jobs have ended which they wait for, and what happened; and what the
-- statistics are to know.

local function tell_others(keys, queue, now_ms, how)
  if queue.ends then
    tell_ends(keys.results, queue.ends, now_ms, how)
  end
  if queue.noted or queue.counted then
    leave_notes(keys.notes, keys.stats, queue, packed_notes(queue), now_ms)
  end
  if queue.events then
    publish(keys.listeners, queue.events, now_ms)
  end
end
