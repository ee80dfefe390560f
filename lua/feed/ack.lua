--[[
Removes completed messages of a live claim. Without ids, it removes all messages of the claim. A message that the claim
does not hold stays, and is returned with the reason: absent (not in the feed any more), unclaimed, held (by another
claim).

@returns acked  count:integer refused:[id:integer reason:text]
@returns lost
@cost    O(messages x log n), and as much for twice as many that are rewritten
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local token = ARGV[3] -- text: token of the claim
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages to ack; none: all of the claim

local feed = try(open_feed(keys.meta, call_id.caller))
local remembered = try(recall(feed.record, call_id))
if remembered then
  local refused = {}
  for id, reason in string.gmatch(remembered, '(%d+):(%a+)') do
    refused[#refused + 1] = tonumber(id)
    refused[#refused + 1] = reason
  end
  return { 'acked', tonumber(string.match(remembered, '^%d+')), refused }
end
feed.now_ms = math.floor(clock_us() / 1000)
if not is_live(keys, feed, token) then
  return { 'lost' }
end

local done, others, refused, refused_text = {}, {}, {}, ''
if #ids < ids_at then
  done = work_of(keys, token)
end
for _, found in ipairs(look_up(keys.parked, ids, ids_at)) do
  local holder = found.place and redis.call('ZSCORE', keys.claimed, found.place)
  if holder == token then
    local entry = parse_work(redis.call('HGET', keys.work, found.place))
    entry.place = found.place
    done[#done + 1] = entry
  else
    found.holder = holder
    others[#others + 1] = found
  end
end
if #others > 0 then
  refused, refused_text = refuse(keys, feed, others)
end

if #done > 0 then
  local is_over = redis.call('ZCOUNT', keys.claimed, token, token) == #done
  remove_entries(keys, feed, done)
  if is_over then
    forget_lease(keys, token)
  end
  if feed.look or feed.moved ~= 0 then
    compact(keys, feed, #done)
  end
  if may_rest(feed) then
    rest_when_empty(keys, feed)
  end
  remember_answer(keys.meta, call_id, feed.now_ms, #done .. ' ' .. refused_text)
  save_feed(keys.meta, feed)
end
return { 'acked', #done, refused }
