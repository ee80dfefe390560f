-- What a child in another queue is to be told of an end.
local function put_out_end(keys, queue, child, ref, letter, text, now_us)
  local target, asked = string.match(child, '^q(.*)\1(.*)$')
  -- See shared/queue/keep-end.
  local told = letter == 'f' and text == '' and redis.call('HGET', keys.jobs, 'o' .. ref) or text
  put_out(keys, queue, target, 'e' .. pack_end(letter, asked, told), now_us)
  queue.moved = queue.moved + #told
end
