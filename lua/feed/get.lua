--[[
Looks up messages by id, in the order asked; ids that are not in the feed are skipped. A delayed message has position 0
until it becomes visible. `held`: which of them a live claim holds. The lookup stops once messages reach 4 MiB: `looked`
is the number of ids it has processed.

@returns found  epoch:integer now_ms:integer looked:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes] held:[position:integer token:integer]
@cost    O(ids x log n), and 4 MiB of bodies
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local ids, ids_at = ARGV, 2 -- repeated (id:integer): messages to look up

local feed = try(open_feed(keys.meta, '', codec))
feed.now_ms = math.floor(clock_us() / 1000)
local entries, alive, claims = {}, {}, {}
local looked, budget = 0, budget_of(#ids)
for _, found in ipairs(look_up(keys.parked, ids, ids_at)) do
  if not is_left(budget) then
    break
  end
  local is_parked = found.parked ~= nil
  local entry = is_parked and parse_parked(tonumber(found.id), found.parked)
    or entry_at(keys, feed, found.place)
  if entry then
    spend(budget, 1, entry.bytes)
    entries[#entries + 1] = entry
  end
  looked = found.at
end
complete_entries(keys.work, entries)
local held = find_claimed(keys, feed, entries)
for _, entry in ipairs(entries) do
  if not has_expired(entry, feed.now_ms) then
    alive[#alive + 1] = entry
    report_claim(claims, entry.position, held[entry.place])
  end
end
return { 'found', feed.epoch, feed.now_ms, looked, report_messages(alive, keys.bodies), claims }
