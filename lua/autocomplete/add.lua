--[[
Adds entries, or replaces the entries with the same ids: text, score, payload and expiry. A repeated call changes
nothing and returns the same answer. `replaced`: how many were stored before and had not expired. `taken`: how many of
the entries, from the first, fit into the work of one call; send the others in another call.

@returns added  added:integer replaced:integer taken:integer
@cost    O(log words) for each of the 8 words of an entry at most, and for each fork among its 64 bytes. Each of their
         tops rewrites a leaf of 18 places, and once a call the front, 5 KiB at most, if one of the first ten changes. A
         prefix at which words diverge for the first time copies 250 places. A replaced entry costs as in `remove`. A
         call takes entries for 6,000 units of work (shared/autocomplete/index), about a microsecond each, and the one
         that exceeds them; for 2,000 if others have expired, of which it removes as many and 20 as well. File and
         replicas get the record, the words, 350 bytes for each top, and the fronts: 4 to 8 kB if a thousand titles
         begin the same way
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local added, added_at = ARGV, 4 -- repeated (id:text text:text marked:text score:integer ttl_ms:integer payload:bytes): marked: the folded text, with \1 before each word start but the first; ttl_ms 0: never

local index = try(open_index(keys.meta, call_id.caller, codec))
local remembered = try(recall(index.record, call_id))
if remembered then
  local new, replaced, taken = string.match(remembered, '^(%d+) (%d+) (%d+)$')
  return { 'added', tonumber(new), tonumber(replaced), tonumber(taken) }
end
local now_ms = math.floor(clock_us() / 1000)
-- Growing writes come first: a server out of memory rejects them.
redis.call('HSET', keys.meta, 'layout', INDEX_LAYOUT, 'codec', codec)
try_rights(keys.meta, index, keys)
local known, before = open_tops(index.last_top), index.last
local new, replaced, taken = 0, 0, 0
-- If entries have expired, most of the work is reserved for as many of them, so that they never accumulate.
local has_due = redis.call('ZCOUNT', keys.expiry, '-inf', exact(now_ms)) > 0
local most_work = has_due and MOST_WORK / 3 or MOST_WORK
for at = added_at, #added, #ADDED do
  local ttl_ms = tonumber(added[at + ADDED.ttl_ms])
  local entry = {
    id = added[at + ADDED.id],
    text = added[at + ADDED.text],
    marked = added[at + ADDED.marked],
    rank = rank_of(added[at + ADDED.score]),
    expires_at_ms = ttl_ms > 0 and now_ms + ttl_ms or 0,
    payload = added[at + ADDED.payload],
  }
  if enter_entry(keys, known, index, entry, now_ms) then
    replaced = replaced + 1
  else
    new = new + 1
  end
  taken = taken + 1
  if known.work > most_work then
    break
  end
end
note_index(keys.meta, index, before, known.last)
reap(keys, known, now_ms, 20 + taken)
renew_fronts(keys, known, index.codec)
write_tops(keys.tops, known)
remember_answer(keys.meta, call_id, now_ms, new .. ' ' .. replaced .. ' ' .. taken)
return { 'added', new, replaced, taken }
