-- Saves the feed and remembers the call, in one write.
local function save_feed_and_call(meta, feed, caller, call, now_ms, answer)
  if caller == '' then
    return save_feed(meta, feed)
  end
  local record = call_record(call, now_ms, answer)
  local added = redis.call('HSET', meta, 'state', packed_state(feed), caller, record)
  forget_old_calls(meta, call, added, now_ms)
end
