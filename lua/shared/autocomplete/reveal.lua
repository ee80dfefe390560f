-- Adds to `shown` what callers see of entries, unless they have expired or are among `others`, until there are
-- `limit` of them.
local SHOWN_FIELDS = 5

local function show(shown, record, is_edited)
  local entry = parse_record(record)
  shown[#shown + 1] = entry.id
  shown[#shown + 1] = entry.text
  shown[#shown + 1] = MOST_SCORE - entry.rank
  shown[#shown + 1] = entry.payload
  shown[#shown + 1] = is_edited and 1 or 0
end

local function reveal(entries, fields, shown, limit, others)
  local now_ms
  for from = 1, #fields, limit do
    if #shown >= limit * SHOWN_FIELDS then
      return
    end
    local to = math.min(from + limit - 1, #fields)
    for at, record in ipairs(redis.call('HMGET', entries, unpack(fields, from, to))) do
      local expires_at_ms = struct.unpack('>d', record)
      if expires_at_ms > 0 then
        now_ms = now_ms or math.floor(clock_us() / 1000)
      end
      local is_wanted = #shown < limit * SHOWN_FIELDS and not (others and others[fields[from + at - 1]])
      if is_wanted and not has_expired(expires_at_ms, now_ms) then
        show(shown, record, others ~= nil)
      end
    end
  end
end
