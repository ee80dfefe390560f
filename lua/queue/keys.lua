-- The keys of a queue.
return {
  meta = 'hash', -- the queue's state
  jobs = 'hash', -- all that is stored of each job
  ready = 'list', -- ready jobs without group and priority
  prioritized = 'sorted set', -- ready jobs with a priority -> the lower the sooner
  scheduled = 'sorted set', -- jobs that wait for their time -> that time, in ms
  leases = 'sorted set', -- claimed jobs -> when the lease ends, in ms
  grouped = 'sorted set', -- ready jobs of groups -> number of the group
  groups = 'hash', -- the groups
  turns = 'list', -- groups that may be served, in turn
  held = 'sorted set', -- groups that their rate holds back -> until when, in ms
  ids = 'hash', -- ids and unique keys of users
  dead = 'sorted set', -- dead jobs -> when they died, in ms
  failed = 'sorted set', -- dead jobs -> number of the kind of their failure
  kinds = 'hash', -- kinds of failures
  done = 'sorted set', -- jobs that are done and kept -> when they ended, in ms
  idle = 'sorted set', -- workers that wait -> their number
  blocked = 'sorted set', -- jobs that wait for their dependencies -> their number
  children = 'sorted set', -- ref of a dependency and the dependent that waits for it
  parents = 'sorted set', -- ref of a dependency -> 0: it has ended; else when to ask after it, in ms
  outbox = 'sorted set', -- what goes to other queues -> its number
  inbox = 'hash', -- other queue -> number of the newest that came from it
  recurrences = 'hash', -- recurring jobs
  recurring = 'sorted set', -- recurring jobs -> when they run next, in ms
  short = 'sorted set', -- recurring jobs that run out of known times -> the last of them, in ms
  results = 'hash', -- ends of jobs, for those who ask
  listeners = 'hash', -- who listens to events, where, and the number of the newest message
  tagged = 'sorted set', -- '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
  notes = 'string', -- what the statistics do not hold yet; see shared/queue/statistics
  stats = 'hash', -- statistics of minutes, hours and days
}
