-- Of what is spread over several units each knows over how many: the field `partitions` of its main key, which is there from
-- the first time on that the partition is used. Before that it is proposed, then the number is agreed upon in the unit of the
-- name alone, and only then it is taken up, with what proves the proposal; see shared/agreement. So whoever clears all
-- partitions that the number tells clears this one, too.

-- False where the partition was not proposed so, or was cleared since.
local function take_up(meta, partitions, proof)
  if proof == '' or redis.call('HGET', meta, 'proposed') ~= proof then
    return false
  end
  redis.call('HSET', meta, 'partitions', partitions)
  redis.call('HDEL', meta, 'proposed')
  redis.call('PERSIST', meta)
  return true
end
