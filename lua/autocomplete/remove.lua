--[[
Removes entries by their ids. A repeated call changes nothing and returns the same answer. `removed`: how many were
stored and had not expired. `taken`: how many of the ids, from the first, fit into the work of one call; send the others
in another call.

@returns removed  removed:integer taken:integer
@cost    O(log words) for each of the 8 words of an entry at most, and for each fork among its 64 bytes. Each of their
         tops rewrites a leaf of 18 places, and once a call the front if the call removes one of the first ten. A top
         that falls under 100 places gets up to 60 from the forks that extend it, which costs a first place of each; for
         a prefix one byte longer without a fork the call reads up to 200 words. A call takes entries for 6,000 units of
         work, as `add`. File and replicas get the same as in `add`, and 1.5 kB for each refilled top
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local gone, gone_at = ARGV, 3 -- repeated (id:text): the entries

local index = try(open_index(keys.meta, call_id.caller))
local remembered = try(recall(index.record, call_id))
if remembered then
  local removed, taken = string.match(remembered, '^(%d+) (%d+)$')
  return { 'removed', tonumber(removed), tonumber(taken) }
end
local now_ms = math.floor(clock_us() / 1000)
local known = open_tops(index.last_top)
local removed, taken = 0, 0
try_rights(keys.meta, index, keys)
for at = gone_at, #gone do
  local field = redis.call('HGET', keys.ids, gone[at])
  if field then
    local record = redis.call('HGET', keys.entries, field)
    if not has_expired(struct.unpack('>d', record), now_ms) then
      removed = removed + 1
    end
    remove_entry(keys, known, field, record)
  end
  taken = taken + 1
  known.work = known.work + 1
  if known.work > MOST_WORK then
    break
  end
end
reap(keys, known, now_ms, 20)
renew_fronts(keys, known, index.codec)
write_tops(keys.tops, known)
if not index.is_new then
  remember_answer(keys.meta, call_id, now_ms, removed .. ' ' .. taken)
end
return { 'removed', removed, taken }
