// What `perilune` and `perilune/semaphore` both export.

export type { SemaphoreInspection } from './inspection.ts'
export { type PermitOptions, Semaphore, type SemaphoreOptions } from './semaphore.ts'
