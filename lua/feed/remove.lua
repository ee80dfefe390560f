--[[
Removes messages by id, delayed ones too. Ids that are not in the feed are skipped. A message under a live claim stays
and is returned, unless `even_claimed`.

@returns removed  count:integer held:[id:integer]
@cost    O(messages x log n), and as much for twice as many that are rewritten
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local even_claimed = ARGV[3] == '1' -- flag: whether to remove messages under a live claim too
local ids, ids_at = ARGV, 4 -- repeated (id:integer): messages to remove

local feed = try(open_feed(keys.meta, call_id.caller))
local remembered = try(recall(feed.record, call_id))
if remembered then
  local held = {}
  for id in string.gmatch(remembered, ' (%d+)') do
    held[#held + 1] = tonumber(id)
  end
  return { 'removed', tonumber(string.match(remembered, '^%d+')), held }
end
feed.now_ms = math.floor(clock_us() / 1000)
local going, parked_ids, held, held_ids = {}, {}, {}, { '' }
local has_large = false
for _, found in ipairs(look_up(keys.parked, ids, ids_at)) do
  if found.parked then
    parked_ids[#parked_ids + 1] = found.id
    has_large = has_large or is_large(parse_parked(tonumber(found.id), found.parked).bytes)
  else
    local holder = not even_claimed and redis.call('ZSCORE', keys.claimed, found.place)
    local entry = entry_at(keys, feed, found.place)
    if entry and holder and is_live(keys, feed, holder) then
      held[#held + 1] = tonumber(found.id)
      held_ids[#held_ids + 1] = found.id
    elseif entry then
      going[#going + 1] = entry
    end
  end
end
local count = #going + #parked_ids
if count > 0 then
  try_whole_removal(keys)
  if #parked_ids > 0 then
    unpark(keys, parked_ids, has_large)
    feed.visible_at_us = tonumber(redis.call('ZRANGE', keys.delayed, '0', '0', 'WITHSCORES')[2] or 0)
  end
  remove_entries(keys, feed, going)
  if feed.look or feed.moved ~= 0 then
    compact(keys, feed, #going)
  end
  if may_rest(feed) then
    rest_when_empty(keys, feed)
  end
  remember_answer(keys.meta, call_id, feed.now_ms, count .. table.concat(held_ids, ' '))
  save_feed(keys.meta, feed)
end
return { 'removed', count, held }
