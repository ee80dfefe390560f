// The common exports of `perilune` and `perilune/semaphore`.

export type { SemaphoreInspection } from './inspection.ts'
export { type PermitOptions, Semaphore, type SemaphoreOptions } from './semaphore.ts'
