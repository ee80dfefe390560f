-- Saves the feed and remembers the call, in one write.
local function save_feed_and_call(meta, feed, caller, call, now_ms, answer)
  if caller == '' then
    return save_feed(meta, feed)
  end
  redis.call('HSET', meta, 'state', packed_state(feed), caller, call_record(call, now_ms, answer))
  forget_old_calls(meta, call, now_ms)
end
