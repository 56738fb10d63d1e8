-- The tables of Hangfire.Storage.SQLite 0.4.3, for an empty file: a Hangfire server runs on them
-- unchanged. Times are .NET ticks (100 ns since the year 1, UTC); 0 stands for none.

CREATE TABLE "AggregatedCounter" (
  "Key" varchar(100) primary key not null,
  "Value" float,
  "ExpireAt" bigint
);
CREATE INDEX "IX_AggregatedCounter_ExpireAt" ON "AggregatedCounter" ("ExpireAt");

CREATE TABLE "Counter" (
  "Id" varchar(100) primary key not null,
  "Key" varchar(100),
  "Value" float,
  "ExpireAt" bigint
);
CREATE INDEX "IX_Counter_ExpireAt" ON "Counter" ("ExpireAt");

CREATE TABLE "Job" (
  "Id" integer primary key autoincrement not null,
  "StateId" integer,
  "StateName" varchar(20),
  "InvocationData" varchar(16000),
  "Arguments" varchar(16000),
  "CreatedAt" bigint,
  "ExpireAt" bigint
);
CREATE INDEX "IX_Job_StateName" ON "Job" ("StateName");
CREATE INDEX "IX_Job_ExpireAt" ON "Job" ("ExpireAt");

CREATE TABLE "List" (
  "Id" integer primary key autoincrement not null,
  "Key" varchar(100),
  "Value" varchar(16000),
  "ExpireAt" bigint
);
CREATE INDEX "IX_List_Key" ON "List" ("Key");
CREATE INDEX "IX_List_ExpireAt" ON "List" ("ExpireAt");

CREATE TABLE "Hash" (
  "Id" integer primary key autoincrement not null,
  "Key" varchar(100),
  "Field" varchar(100),
  "Value" varchar(16000),
  "ExpireAt" bigint
);
CREATE INDEX "IX_Hash_Key" ON "Hash" ("Key");
CREATE INDEX "IX_Hash_Field" ON "Hash" ("Field");
CREATE INDEX "IX_Hash_ExpireAt" ON "Hash" ("ExpireAt");

CREATE TABLE "JobParameter" (
  "Id" integer primary key autoincrement not null,
  "JobId" integer,
  "Name" varchar(40),
  "Value" varchar(16000),
  "ExpireAt" bigint
);
CREATE INDEX "IX_JobParameter_JobId" ON "JobParameter" ("JobId");
CREATE INDEX "IX_JobParameter_Name" ON "JobParameter" ("Name");
CREATE INDEX "IX_JobParameter_ExpireAt" ON "JobParameter" ("ExpireAt");

CREATE TABLE "JobQueue" (
  "Id" integer primary key autoincrement not null,
  "JobId" integer,
  "Queue" varchar(50),
  "FetchedAt" bigint
);
CREATE INDEX "IX_JobQueue_Queue" ON "JobQueue" ("Queue");
CREATE INDEX "IX_JobQueue_FetchedAt" ON "JobQueue" ("FetchedAt");

CREATE TABLE "Server" (
  "Id" varchar(100) primary key not null,
  "Data" varchar(16000),
  "LastHeartbeat" bigint
);

CREATE TABLE "Set" (
  "Id" integer primary key autoincrement not null,
  "Key" varchar(100),
  "Score" float,
  "Value" varchar(256),
  "ExpireAt" bigint
);
CREATE INDEX "IX_Set_Key" ON "Set" ("Key");
CREATE INDEX "IX_Set_Value" ON "Set" ("Value");
CREATE INDEX "IX_Set_ExpireAt" ON "Set" ("ExpireAt");

CREATE TABLE "State" (
  "Id" integer primary key autoincrement not null,
  "JobId" integer,
  "Name" varchar(20),
  "Reason" varchar(100),
  "CreatedAt" bigint,
  "Data" varchar(16000),
  "ExpireAt" bigint
);
CREATE INDEX "IX_State_JobId" ON "State" ("JobId");
CREATE INDEX "IX_State_ExpireAt" ON "State" ("ExpireAt");

CREATE TABLE "DistributedLock" (
  "Id" varchar primary key not null,
  "Resource" varchar,
  "ResourceKey" varchar,
  "ExpireAt" bigint
);
CREATE UNIQUE INDEX "DistributedLock_Resource" ON "DistributedLock" ("Resource");
