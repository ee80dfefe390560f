// The common exports of `perilune` and `perilune/lock`.

export { Campaign, type CampaignOptions, Election, type ElectionOptions, type Term } from './election.ts'
export { Fenced, type FencedOptions } from './fenced.ts'
export type { LockInspection } from './inspection.ts'
export { type AcquireOptions, Lock, LockAccess, type LockOptions } from './lock.ts'
export { LockSet, type SetLease } from './lock-set.ts'
