declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** One machine shape in one place at one provider. */
export type GroupName = Brand<string, 'GroupName'>;
/** One piece of pending work, as its owner calls it. */
export type EntryId = Brand<string, 'EntryId'>;
/** Ours, minted before launch. */
export type SliceId = Brand<string, 'SliceId'>;
/** The provider's own name for a machine, learned after launch. */
export type MachineId = Brand<string, 'MachineId'>;
/** A point in time, in milliseconds since 1970. */
export type EpochMs = Brand<number, 'EpochMs'>;

// The only casts to these brands are here.
export const groupName = (raw: string): GroupName => raw as GroupName;
export const entryId = (raw: string): EntryId => raw as EntryId;
export const sliceId = (raw: string): SliceId => raw as SliceId;
export const machineId = (raw: string): MachineId => raw as MachineId;
export const epochMs = (raw: number): EpochMs => raw as EpochMs;
