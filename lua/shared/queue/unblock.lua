-- A child waits for nobody any more: it is ready, or scheduled, where it has a delay. Answers whether it is ready.
local function unblock_child(keys, queue, seq, job, run, delay_ms, now_us)
  unblock(keys, queue, seq, run)
  wait_again(keys, queue, seq, job, run, math.floor(now_us / 1000) + delay_ms, now_us)
  return delay_ms == 0
end
