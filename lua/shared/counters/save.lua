local function save_shard(meta, shard)
  redis.call(
    'HSET',
    meta,
    'layout',
    shard.layout,
    'epoch',
    exact(shard.epoch),
    'seq',
    exact(shard.seq),
    'batch',
    shard.batch,
    'pending_ms',
    exact(shard.pending_ms),
    'sealed_ms',
    exact(shard.sealed_ms)
  )
end
