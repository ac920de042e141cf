#include <gtest/gtest.h>

#include <algorithm>

#include "cluster.hpp"
#include "rankward/sim/models.hpp"

namespace rankward::sim {
namespace {

// The README of cluster-trace-gpu-v2023 prints such rows.
TEST(OpenbTest, NodesWithGpusBecomeNodes) {
  const auto nodes = read_openb_nodes(
      "sn,cpu_milli,memory_mib,gpu,model\n"
      "openb-node-0229,96000,786432,8,V100M32\n"
      "openb-node-0227,32000,262144,0,\n"
      "openb-node-0228,128000,786432,8,G3\n",
      "nodes.csv");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 2U);
  const Cluster cluster(*nodes, false);
  EXPECT_EQ(cluster.hosts()[0].name, "openb-node-0228");
  EXPECT_EQ(cluster.hosts()[0].product, "G3");
  EXPECT_EQ(cluster.hosts()[0].cpu_milli, 128'000);
  EXPECT_EQ(cluster.hosts()[1].memory, std::int64_t{786'432} << 20);
  EXPECT_EQ(cluster.gpus(), 16);
}

TEST(OpenbTest, PodsComeByArrivalFromZeroWithWholeGpus) {
  const auto jobs = read_openb_pods(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n"
      "openb-pod-0035,16000,32768,1,1000,V100M16|V100M32,LS,Running,9967058,9968575,9967063\n"
      "openb-pod-0017,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497\n"
      "openb-pod-0022,4000,15258,1,220,,BE,Running,9679175,9973826,9679175\n"
      "openb-pod-0001,4000,15258,0,0,,BE,Running,1,2,1\n",
      "pods.csv");
  ASSERT_TRUE(jobs) << jobs.error().to_string();
  ASSERT_EQ(jobs->size(), 3U);
  EXPECT_EQ((*jobs)[0].name, "openb-pod-0017");
  EXPECT_EQ((*jobs)[0].arrival, 0);
  EXPECT_EQ((*jobs)[0].duration, 10769854 - 9437497);
  EXPECT_EQ((*jobs)[1].gpus, 1);
  EXPECT_EQ((*jobs)[2].products, (std::vector<std::string>{"V100M16", "V100M32"}));
  EXPECT_EQ((*jobs)[2].arrival, 9967058 - 9437497);
}

TEST(JobCsvTest, GangsAreReadInAnyOrderOfColumns) {
  const auto jobs = read_job_csv(
      "pods,name,gpus,arrival,duration,message_mib,network\r\n"
      "16,b,8,10.5,3600,256,rdma-devices\r\n"
      "1,a,2,0,60,,\r\n",
      "jobs.csv");
  ASSERT_TRUE(jobs) << jobs.error().to_string();
  EXPECT_EQ((*jobs)[0].name, "a");
  EXPECT_EQ((*jobs)[0].message_size.count, topology::kGibibyte);
  EXPECT_EQ((*jobs)[1].pods, 16);
  EXPECT_EQ((*jobs)[1].arrival, 10.5);
  EXPECT_EQ((*jobs)[1].message_size.count, 256 << 20);
  EXPECT_EQ((*jobs)[1].network, JobNetwork::kRdmaDevices);
}

TEST(JobYamlTest, IsReadWhole) {
  const auto jobs = formats::read_job_models(
      "apiVersion: sim.rankward.io/v1alpha1\nkind: SimulatedJobs\njobs:\n"
      "- {name: train, arrival: 5, duration: 7200, pods: 4, gpus: 8, cpus: 32, memory: 64Gi,"
      " messageSize: 256Mi, network: host-network, products: [NVIDIA-GB200]}\n",
      "jobs.yaml");
  ASSERT_TRUE(jobs) << jobs.error().to_string();
  const Job& job = jobs->front();
  EXPECT_EQ(job.pods, 4);
  EXPECT_EQ(job.cpu_milli, 32'000);
  EXPECT_EQ(job.memory.count, std::int64_t{64} << 30);
  EXPECT_EQ(job.network, JobNetwork::kHostNetwork);
  EXPECT_EQ(job.products.front(), "NVIDIA-GB200");
}

struct BadCsv {
  const char* name;
  const char* text;
  const char* error;
};

class BadCsvTest : public ::testing::TestWithParam<BadCsv> {};

TEST_P(BadCsvTest, SaysWhere) {
  const auto jobs = read_job_csv(GetParam().text, "j.csv");
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().to_string(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCsvTest,
    ::testing::Values(
        BadCsv{"NoColumn", "name,arrival,duration,pods\n",
               "j.csv:1: must have the column \"gpus\""},
        BadCsv{"ShortRow", "name,arrival,duration,pods,gpus\na,0,1\n",
               "j.csv:2: must have 5 cells as the heading, not 3"},
        BadCsv{"NoNumber", "name,arrival,duration,pods,gpus\n\na,soon,1,1,1\n",
               "j.csv:3: arrival: must be a number of 0 or more, not \"soon\""},
        BadCsv{"NoPod", "name,arrival,duration,pods,gpus\na,0,1,0,1\n",
               "j.csv:2: pods: must be 1 or more"},
        BadCsv{"Quoted", "name,arrival,duration,pods,gpus\n\"a\",0,1,1,1\n",
               "j.csv:2: quoted cells are not read"},
        BadCsv{"Network", "name,arrival,duration,pods,gpus,network\na,0,1,1,1,ib\n",
               "j.csv:2: network: must be none, rdma-devices or host-network, not \"ib\""}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(SyntheticJobsTest, KeepTheirBoundsAndTheOfferedLoad) {
  WorkloadOptions options;
  options.gangs = 3'000;
  options.singles = 2'000;
  options.cluster_gpus = 6'776;
  options.largest_gang_gpus = 1'694;
  options.load = 0.8;
  const auto jobs = synthetic_jobs(options);
  ASSERT_EQ(jobs.size(), 5'000U);
  double offered = 0;
  std::size_t gangs = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    EXPECT_GE(job.arrival, i > 0 ? jobs[i - 1].arrival : 0);
    EXPECT_GE(job.gpus, 1);
    EXPECT_LE(job.gpus, 8);
    EXPECT_LE(job.pods * job.gpus, options.largest_gang_gpus);
    gangs += job.pods > 1 ? 1 : 0;
    largest = std::max(largest, job.pods);
    offered += static_cast<double>(job.pods * job.gpus) * job.duration;
  }
  EXPECT_EQ(gangs, options.gangs);
  EXPECT_GE(largest, 512);
  EXPECT_NEAR(offered / (jobs.back().arrival * 6'776), 0.8, 0.04);
}

TEST(LoadTest, ArrivalsAreMovedToTheLoadAskedFor) {
  std::vector<Job> jobs(2);
  jobs[0].gpus = 4;
  jobs[0].duration = 100;
  jobs[1].arrival = 1'000;
  jobs[1].pods = 2;
  jobs[1].gpus = 3;
  jobs[1].duration = 50;
  // 700 GPU-seconds at half of 10 GPUs.
  scale_to_load(jobs, 0.5, 10);
  EXPECT_DOUBLE_EQ(jobs[0].arrival, 0);
  EXPECT_DOUBLE_EQ(jobs[1].arrival, 140);
}

TEST(SyntheticJobsTest, AreTheSameForTheSameSeed) {
  WorkloadOptions options;
  options.cluster_gpus = options.largest_gang_gpus = 1'000;
  const auto names_and_times = [&] {
    std::vector<std::pair<std::string, double>> all;
    for (const Job& job : synthetic_jobs(options))
      all.emplace_back(job.name, job.arrival);
    return all;
  };
  const auto first = names_and_times();
  EXPECT_EQ(first, names_and_times());
  options.seed = 2;
  EXPECT_NE(first, names_and_times());
}

}  // namespace
}  // namespace rankward::sim
