-- As shared/queue/note-alike, for any jobs.

-- Notes jobs of a flat list, `step` values each: since when it waited or ran, and, `name_at` behind that, its name. There are
-- `per_ms` units of that time to a millisecond.
local function note_spans(queue, kind, list, step, name_at, now, per_ms)
  local groups, by_name = {}, {}
  for at = 1, #list, step do
    local name, span_ms = list[at + name_at], (now - list[at]) / per_ms
    local bucket = bucket_of(span_ms)
    local by_bucket = by_name[name]
    if not by_bucket then
      by_bucket = {}
      by_name[name] = by_bucket
    end
    local group = by_bucket[bucket]
    if group then
      group.count, group.sum = group.count + 1, group.sum + span_ms
      group.greatest = span_ms > group.greatest and span_ms or group.greatest
    else
      group = { name = name, count = 1, sum = span_ms, greatest = span_ms }
      by_bucket[bucket], groups[#groups + 1] = group, group
    end
  end
  for _, group in ipairs(groups) do
    note_alike(queue, kind, group.name, group.count, group.sum, group.greatest, group.greatest)
  end
end
