-- What others are to be told when a call is over: that jobs have ended which they wait for, and what happened.
local function tell_others(keys, queue, now_ms, how)
  if queue.ends then
    -- @include shared/queue/result
    -- @include shared/queue/tell-ends
    tell_ends(keys.results, queue.ends, now_ms, how)
  end
  if queue.events then
    -- @include shared/queue/publish
    publish(keys.listeners, queue.events, now_ms)
  end
end
